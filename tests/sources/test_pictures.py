"""Pictures: every common kind is decoded, and what cannot be used is named in one line."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image, PngImagePlugin

from egoequiv.errors import BrokenFrameError
from egoequiv.sources.pictures import crop_to_aspect, read_picture

RNG = np.random.default_rng(3)
GRAY = RNG.integers(0, 256, (5, 7), np.uint8)
COLOR = RNG.integers(0, 256, (5, 7, 3), np.uint8)
FORMATS = ("JPEG", "PNG", "BMP", "WEBP", "TIFF", "GIF", "PPM")


def encode(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def read(content: bytes) -> np.ndarray:
    return read_picture(io.BytesIO(content), "frame 3")


def refused(content: bytes) -> str:
    with pytest.raises(BrokenFrameError) as caught:
        read(content)
    message = str(caught.value)
    assert message.startswith("frame 3: ")
    assert "\n" not in message
    return message


def test_gray_stays_gray_and_colour_stays_colour(tmp_path: Path) -> None:
    assert read(encode(Image.fromarray(GRAY))).tolist() == GRAY.tolist()
    path = tmp_path / "a.png"
    Image.fromarray(COLOR).save(path)
    for name in (path, str(path)):
        image = read_picture(name, "here")
        assert image.dtype == np.uint8
        assert image.tolist() == COLOR.tolist()


def test_a_picture_may_be_written_to() -> None:
    read(encode(Image.fromarray(GRAY)))[:] = 0
    read(encode(Image.fromarray(COLOR)))[:] = 0


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(kind: str) -> None:
    smooth = np.tile(np.linspace(40, 200, 32).astype(np.uint8), (24, 1))
    gray = read(encode(Image.fromarray(smooth), kind))
    assert gray.shape == ((24, 32, 3) if kind == "WEBP" else (24, 32))  # WebP knows colour only
    assert np.abs(gray.reshape(24, 32, -1).astype(int) - smooth[..., None]).max() < 8
    tinted = np.dstack([smooth, smooth // 2, 250 - smooth])
    color = read(encode(Image.fromarray(tinted), kind))
    assert color.shape == (24, 32, 3)
    assert np.abs(color.astype(int) - tinted).max() < 30


def test_alpha_is_dropped() -> None:
    alpha = RNG.integers(0, 256, (5, 7, 1), np.uint8)
    assert read(encode(Image.fromarray(np.dstack([COLOR, alpha])))).tolist() == COLOR.tolist()
    assert read(encode(Image.fromarray(np.dstack([GRAY, alpha])))).tolist() == GRAY.tolist()


def test_a_palette_becomes_colour_even_where_it_is_transparent() -> None:
    picture = Image.new("P", (3, 2))
    picture.putpalette([10, 20, 30, 200, 100, 50])
    picture.putpixel((2, 1), 1)
    for options in ({}, {"transparency": 0}, {"transparency": b"\x00\x80"}):
        image = read(encode(picture, **options))
        assert image[0, 0].tolist() == [10, 20, 30]
        assert image[1, 2].tolist() == [200, 100, 50]


def test_one_bit_becomes_black_and_white() -> None:
    image = read(encode(Image.fromarray(GRAY > 100)))
    assert image.dtype == np.uint8
    assert image.tolist() == np.where(GRAY > 100, 255, 0).tolist()


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_of_sixteen_bits_the_upper_eight_are_kept(kind: str) -> None:
    deep = np.array([[0, 255, 256], [0x1234, 0xFEFF, 0xFFFF]], np.uint16)
    assert read(encode(Image.fromarray(deep), kind)).tolist() == [[0, 0, 1], [0x12, 0xFE, 0xFF]]


def test_numbers_that_are_not_eight_or_sixteen_bits_are_refused() -> None:
    assert "0 to 70000" in refused(encode(Image.fromarray(np.array([[0, 1], [2, 70_000]], np.int32)), "TIFF"))
    assert "-5 to 2" in refused(encode(Image.fromarray(np.array([[0, 1], [2, -5]], np.int32)), "TIFF"))
    assert "floating-point" in refused(encode(Image.fromarray(np.ones((2, 2), np.float32)), "TIFF"))


def test_printing_colours_are_refused() -> None:
    assert "CMYK" in refused(encode(Image.new("CMYK", (8, 8)), "JPEG"))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, 3), (8, 1)])
def test_a_camera_held_on_its_side_is_set_upright(kind: str, orientation: int, turns: int) -> None:
    corner = np.zeros((16, 32), np.uint8)
    corner[:8, :8] = 255
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    image = read(encode(Image.fromarray(corner), kind, exif=exif))
    bright = (image if image.ndim == 2 else image[..., 0]) > 127
    assert bright.tolist() == np.rot90(corner > 127, turns).tolist()


def test_tags_that_cannot_be_read_leave_the_picture_as_it_is() -> None:
    plain = encode(Image.fromarray(GRAY))
    for tags in (b"Exif\x00\x00garbage", b"Exif\x00\x00II*\x00\x08\x00\x00\x00\xff\xff\x12\x01", b"\xff"):
        assert read(encode(Image.fromarray(GRAY), exif=tags)).tolist() == read(plain).tolist()


def test_of_an_animation_it_is_the_first_picture() -> None:
    first, second = Image.new("L", (4, 4), 10), Image.new("L", (4, 4), 200)
    image = read(encode(first, "GIF", save_all=True, append_images=[second]))
    assert np.unique(image).tolist() == [10]


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1)])
def test_a_picture_of_a_single_row_is_refused(size: tuple[int, int]) -> None:
    assert f"{size[0]} x {size[1]} pixels" in refused(encode(Image.new("L", size)))


def test_two_by_two_is_enough() -> None:
    assert read(encode(Image.new("L", (2, 2)))).shape == (2, 2)


@pytest.mark.parametrize("content", [b"", b"\xff", b"not a picture at all", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"P5\n"])
def test_what_is_not_a_picture_is_refused(content: bytes) -> None:
    assert "picture" in refused(content)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_truncated_picture_is_refused(kind: str) -> None:
    content = encode(Image.fromarray(RNG.integers(0, 256, (40, 60, 3), np.uint8)), kind)
    for keep in (0.1, 0.5, 0.9):
        refused(content[: int(keep * len(content))])


@given(st.data())
def test_damaged_bytes_end_in_a_picture_or_one_clear_error(data: st.DataObject) -> None:
    # TIFF is left out: on damaged files its library writes to the terminal, past Python.
    content = bytearray(encode(Image.fromarray(COLOR), data.draw(st.sampled_from([f for f in FORMATS if f != "TIFF"]))))
    for place, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=5)
    ):
        content[place] = value
    try:
        image = read(bytes(content))
    except BrokenFrameError:
        refused(bytes(content))
    else:
        assert image.dtype == np.uint8
        assert image.ndim == 2 or image.shape[2] == 3


@pytest.mark.parametrize("factor", [1.5, 4.0])
def test_a_decompression_bomb_is_refused(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    content = encode(Image.fromarray(GRAY))
    monkeypatch.setattr(
        Image, "MAX_IMAGE_PIXELS", int(GRAY.size / factor)
    )  # beyond twice of it Pillow raises by itself
    assert "million pixels" in refused(content)


def test_a_real_bomb_is_refused_without_being_unpacked() -> None:
    chunk = io.BytesIO()
    PngImagePlugin.putchunk(chunk, b"IHDR", (60_000).to_bytes(4, "big") * 2 + bytes([8, 0, 0, 0, 0]))
    PngImagePlugin.putchunk(chunk, b"IDAT", b"")
    assert "89 million pixels" in refused(b"\x89PNG\r\n\x1a\n" + chunk.getvalue())


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.png", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(BrokenFrameError, match=f"^here: .*{reason}"):
            read_picture(path, "here")


@pytest.mark.parametrize(
    ("shape", "aspect", "expected"),
    [
        ((4, 10), (1, 1), (slice(None), slice(3, 7))),
        ((10, 4), (1, 1), (slice(3, 7), slice(None))),
        ((10, 10), (2, 1), (slice(2, 7), slice(None))),
        ((10, 10), (1, 2), (slice(None), slice(2, 7))),
        ((6, 9), (3, 2), (slice(None), slice(None))),
        ((2, 2), (100, 1), (slice(0, 1), slice(None))),
    ],
)
def test_a_crop_is_central_and_as_large_as_can_be(
    shape: tuple[int, int], aspect: tuple[int, int], expected: tuple[slice, slice]
) -> None:
    gray = RNG.integers(0, 256, shape, np.uint8)
    assert crop_to_aspect(gray, *aspect).tolist() == gray[expected].tolist()
    color = np.dstack([gray] * 3)
    assert crop_to_aspect(color, *aspect).tolist() == color[expected].tolist()


@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 50), st.integers(1, 50))
def test_a_crop_touches_two_sides_and_has_the_aspect_to_a_pixel(
    rows: int, columns: int, width: int, height: int
) -> None:
    cropped = crop_to_aspect(np.zeros((rows, columns), np.uint8), width, height)
    assert cropped.shape[0] == rows or cropped.shape[1] == columns
    if cropped.shape[0] == rows:
        assert abs(cropped.shape[1] - rows * width / height) <= 1
    else:
        assert abs(cropped.shape[0] - columns * height / width) <= 1
