"""Components that show pictures, or into which a person puts photos and documents."""

from pathlib import Path

from chatkit.flowjson import DocumentPicker, Image, ImageCarousel, PhotoPicker, Picture


def test_a_picture_out_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"123")
    picture = Image(path, scale_type="cover", aspect_ratio=1.5, width=100, alt_text="A bike")
    assert picture.to_json() == {
        "type": "Image",
        "src": "MTIz",
        "width": 100,
        "scale-type": "cover",
        "aspect-ratio": 1.5,
        "alt-text": "A bike",
    }


def test_pictures_to_leaf_through() -> None:
    carousel = ImageCarousel([Picture(b"123", "A"), Picture("MTIz", "B")], aspect_ratio="16:9")
    assert carousel.to_json() == {
        "type": "ImageCarousel",
        "images": [{"src": "MTIz", "alt-text": "A"}, {"src": "MTIz", "alt-text": "B"}],
        "aspect-ratio": "16:9",
    }


def test_photos_and_documents_to_send() -> None:
    photos = PhotoPicker("p", "Photos", photo_source="camera", max_uploaded_photos=3)
    assert photos.to_json() == {
        "type": "PhotoPicker",
        "name": "p",
        "label": "Photos",
        "photo-source": "camera",
        "max-uploaded-photos": 3,
    }
    documents = DocumentPicker(
        "d", "Papers", allowed_mime_types=["application/pdf"], error_message={"1": "Too large"}
    )
    assert documents.to_json() == {
        "type": "DocumentPicker",
        "name": "d",
        "label": "Papers",
        "allowed-mime-types": ["application/pdf"],
        "error-message": {"1": "Too large"},
    }
