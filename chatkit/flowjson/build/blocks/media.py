"""Components that show pictures, or into which a person puts photos and documents.

Written by `python -m chatkit.flowjson.build.classes` from the table.
"""

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.kinds import Base64, Flag, Integer, Items, Map, Number, Reference
from chatkit.flowjson.build.piece import Piece, piece
from chatkit.flowjson.components import COMPONENTS, PICTURE

AllowedMimeTypes = Literal[
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
]
AspectRatio = Literal["4:3", "16:9"]
PhotoSource = Literal["camera_gallery", "camera", "gallery"]
ScaleType = Literal["cover", "contain"]


@piece(COMPONENTS["Image"])
class Image(Block):
    """A picture."""

    src: Base64
    _: KW_ONLY
    width: Number | None = None
    height: Number | None = None
    scale_type: ScaleType | Reference | None = None
    aspect_ratio: Number | None = None
    alt_text: str | None = None
    visible: Flag | None = None


@piece(PICTURE)
class Picture(Piece):
    """One picture of a carousel."""

    src: Base64
    alt_text: str


@piece(COMPONENTS["ImageCarousel"])
class ImageCarousel(Block):
    """Up to three pictures to leaf through."""

    images: Items[Picture] | Reference
    _: KW_ONLY
    aspect_ratio: AspectRatio | Reference | None = None
    scale_type: ScaleType | Reference | None = None
    visible: Flag | None = None


@piece(COMPONENTS["PhotoPicker"])
class PhotoPicker(Block):
    """Photos that a person takes or chooses."""

    name: str
    label: str
    _: KW_ONLY
    description: str | None = None
    photo_source: PhotoSource | Reference | None = None
    max_file_size_kb: Integer | None = None
    min_uploaded_photos: Integer | None = None
    max_uploaded_photos: Integer | None = None
    error_message: str | Map | None = None
    enabled: Flag | None = None
    visible: Flag | None = None


@piece(COMPONENTS["DocumentPicker"])
class DocumentPicker(Block):
    """Documents that a person chooses."""

    name: str
    label: str
    _: KW_ONLY
    description: str | None = None
    allowed_mime_types: list[AllowedMimeTypes] | Reference | None = None
    max_file_size_kb: Integer | None = None
    min_uploaded_documents: Integer | None = None
    max_uploaded_documents: Integer | None = None
    error_message: str | Map | None = None
    enabled: Flag | None = None
    visible: Flag | None = None
