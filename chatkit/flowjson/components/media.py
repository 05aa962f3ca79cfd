"""Components that show pictures, or into which a person puts photos and documents."""

from __future__ import annotations

from chatkit.flowjson.components.common import (
    ENABLED,
    TYPE,
    V4,
    V7_1,
    VISIBLE,
    description,
    error_message,
    label,
    name,
)
from chatkit.flowjson.components.property import Component, Property, Shape
from chatkit.flowjson.version import FIRST

_SCALE = Property(
    "scale-type", "choice", "Whether a picture fills its space or fits into it.",
    enum=("cover", "contain"), default="contain",
)  # fmt: skip
_ADVISED_SIZE = ((FIRST, 300),)

PICTURE = Shape(
    "picture",
    "One picture of a carousel.",
    (
        Property("src", "base64", "The picture, JPEG or PNG in base64.", required=FIRST),
        Property("alt-text", "text", "The picture in words.", required=FIRST),
    ),
)

MIME_TYPES = (
    "application/gzip",
    "application/msword",
    "application/pdf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/x-7z-compressed",
    "application/zip",
    "image/avif",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "text/plain",
    "video/mp4",
    "video/mpeg",
)


def _uploads(what: str) -> tuple[Property, ...]:
    """Make the bounds of how much may be uploaded."""
    return (
        Property(
            "max-file-size-kb", "integer", "The largest file, in KB.", low=1, high=25600,
            default=25600,
        ),
        Property(
            f"min-uploaded-{what}", "integer", "The fewest files.", low=0, high=30, default=0
        ),
        Property(
            f"max-uploaded-{what}", "integer", "The most files.", low=1, high=30, default=30
        ),
    )  # fmt: skip


_PICKER_ERROR = error_message(also=(("map", FIRST),))
_PICKER_RULES = (
    "PhotoPicker and DocumentPicker exclude each other on a screen.",
    "The value may not go into a navigate payload; elsewhere it stands at the top of the payload.",
)

MEDIA = (
    Component(
        "Image",
        "A picture.",
        (
            TYPE,
            Property(
                "src", "base64", "The picture, JPEG or PNG in base64.", required=FIRST,
                kilobytes=_ADVISED_SIZE,
            ),
            Property("width", "number", "Its width in pixels."),
            Property("height", "number", "Its height in pixels."),
            _SCALE,
            Property("aspect-ratio", "number", "Its width over its height.", default=1),
            Property("alt-text", "text", "The picture in words."),
            VISIBLE,
        ),
        group="media",
        per_screen=3,
    ),
    Component(
        "ImageCarousel",
        "Up to three pictures to leaf through.",
        (
            TYPE,
            Property(
                "images", "items", "The pictures.", required=FIRST, item=PICTURE, least=1, most=3
            ),
            Property(
                "aspect-ratio", "choice", "The shape of the pictures.", enum=("4:3", "16:9")
            ),
            _SCALE,
            VISIBLE,
        ),
        group="media",
        since=V7_1,
        per_screen=2,
        per_flow=3,
    ),
    Component(
        "PhotoPicker",
        "Photos that a person takes or chooses.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            Property(
                "photo-source", "choice", "From where photos come.",
                enum=("camera_gallery", "camera", "gallery"), default="camera_gallery",
            ),
            *_uploads("photos"),
            _PICKER_ERROR,
            ENABLED,
            VISIBLE,
        ),
        group="media input",
        value="array",
        since=V4,
        per_screen=1,
        rules=_PICKER_RULES,
    ),
    Component(
        "DocumentPicker",
        "Documents that a person chooses.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            Property(
                "allowed-mime-types", "choices", "Which kinds of file.", enum=MIME_TYPES, least=1
            ),
            *_uploads("documents"),
            _PICKER_ERROR,
            ENABLED,
            VISIBLE,
        ),
        group="media input",
        value="array",
        since=V4,
        per_screen=1,
        rules=_PICKER_RULES,
    ),
)  # fmt: skip
