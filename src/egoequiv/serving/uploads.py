"""Pictures that clients send: checked by their headers, decoded, and brought to what the network takes."""

from __future__ import annotations

import base64
import binascii
import re
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError
from egoequiv.models.encoder import ImageShape
from egoequiv.serving.limits import Refusal
from egoequiv.sources.pictures import decode_picture
from egoequiv.store import fit_image

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "PPM")  # decoders of other formats are not offered to strangers
SMALL = 300_000  # pixels: such a picture is decoded faster than it is handed to another thread,
SMALL_BYTES = 200_000  # if it has no more bytes than that
MOST_SCANS = 100  # of a JPEG: a usual progressive one has about 10, and each goes over all pixels
MARKER = re.compile(rb"\xff([\xc0-\xcf\xd8-\xfe])")  # of a JPEG, except those that may be inside of a scan
START_OF_SCAN, END = 0xDA, 0xD9


def from_base64(text: str) -> bytes:
    """The bytes of a picture in a JSON request; a data URL is understood too."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(422, "image: expected a picture in base64 (the standard alphabet, without line breaks)") from None


def count_pixels(content: bytes, most: int) -> int:
    """The number of pixels by the header; a picture with more than `most`, with too many scans, or none, is refused."""
    try:
        with PillowImage.open(BytesIO(content), formats=FORMATS) as picture:
            width, height = picture.size
            is_jpeg = picture.format in ("JPEG", "MPO")
    except Exception:  # on damaged bytes the readers of headers raise almost anything
        raise Refusal(422, f"image: {len(content)} bytes that are not a picture ({', '.join(FORMATS)})") from None
    if width * height > most:
        raise Refusal(413, f"image: {width} x {height} pixels, but at most {most} are decoded: make it smaller")
    if is_jpeg and count_scans(content) > MOST_SCANS:
        raise Refusal(422, f"image: a JPEG of more than {MOST_SCANS} scans: save it again")
    return width * height


def count_scans(content: bytes) -> int:
    """How many scans a JPEG has, by its markers up to its end, or to one more than are taken."""
    scans, place = 0, 2
    while scans <= MOST_SCANS and (found := MARKER.search(content, place)) and found[1][0] != END:
        scans += found[1][0] == START_OF_SCAN
        length = int.from_bytes(content[found.end() : found.end() + 2])
        place = found.end() + max(length, 2)  # what a segment holds, such as a small copy of the picture, is no marker
    return scans


def to_image(content: bytes, shape: ImageShape) -> NDArray[np.uint8]:
    """A picture, whose pixels were counted, as an image of this height, width and channels.

    It is squeezed to fit, as `egoequiv ingest` does.
    """
    try:
        picture = decode_picture(BytesIO(content), "image", FORMATS)
    except BrokenFrameError as problem:
        raise Refusal(422, str(problem)) from problem
    return fit_image(picture, *shape)
