"""Pictures that clients send: checked by their headers, decoded, and brought to what the network takes."""

from __future__ import annotations

import base64
import binascii
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
SMALL = 300_000  # pixels: such a picture is decoded faster than it is handed to another thread


def from_base64(text: str) -> bytes:
    """The bytes of a picture in a JSON request; a data URL is understood too."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(422, "image: expected a picture in base64 (the standard alphabet, without line breaks)") from None


def count_pixels(content: bytes, most: int) -> int:
    """The number of pixels by the header; a picture with more than `most`, or that is none, is refused."""
    try:
        with PillowImage.open(BytesIO(content), formats=FORMATS) as picture:
            width, height = picture.size
    except Exception:  # on damaged bytes the readers of headers raise almost anything
        raise Refusal(422, f"image: {len(content)} bytes that are not a picture ({', '.join(FORMATS)})") from None
    if width * height > most:
        raise Refusal(413, f"image: {width} x {height} pixels, but at most {most} are decoded: make it smaller")
    return width * height


def to_image(content: bytes, shape: ImageShape) -> NDArray[np.uint8]:
    """A picture, whose pixels were counted, as an image of this height, width and channels.

    It is squeezed to fit, as `egoequiv ingest` does.
    """
    try:
        picture = decode_picture(BytesIO(content), "image", FORMATS)
    except BrokenFrameError as problem:
        raise Refusal(422, str(problem)) from problem
    return fit_image(picture, *shape)
