"""Features of pictures by onnxruntime alone: `python run_onnx.py PICTURE...` prints a row of numbers for each."""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageOps

HERE = Path(__file__).parent


def features(pictures: list[str]) -> np.ndarray:
    """Features (N, D) of N files, brought to the size and colour that the network was trained on."""
    height, width, channels = json.loads((HERE / "config.json").read_text())["network"]["image_shape"]
    opened = [open_picture(path).convert("L" if channels == 1 else "RGB") for path in pictures]
    fitted = [np.asarray(one.resize((width, height), Image.Resampling.BILINEAR)) for one in opened]
    images = np.stack(fitted).reshape(-1, height, width, channels)
    session = onnxruntime.InferenceSession(HERE / "encoder.onnx")
    return np.asarray(session.run(["features"], {"images": images})[0])


def open_picture(path: str) -> Image.Image:
    """A picture as a camera showed it; one that cannot be read ends the program with a line that names it."""
    try:
        return ImageOps.exif_transpose(Image.open(path))
    except (OSError, SyntaxError, ValueError) as problem:  # no such file, no picture, or a broken one
        print(f"{path} cannot be read: {problem}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    rows = features(sys.argv[1:])
    for picture, row in zip(sys.argv[1:], rows, strict=True):
        print(picture, *row)
