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
    opened = [ImageOps.exif_transpose(Image.open(path)).convert("L" if channels == 1 else "RGB") for path in pictures]
    fitted = [np.asarray(one.resize((width, height), Image.Resampling.BILINEAR)) for one in opened]
    images = np.stack(fitted).reshape(-1, height, width, channels)
    session = onnxruntime.InferenceSession(HERE / "encoder.onnx")
    return np.asarray(session.run(["features"], {"images": images})[0])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    try:
        rows = features(sys.argv[1:])
    except OSError as problem:  # no such file, or no picture
        sys.exit(str(problem))
    for picture, row in zip(sys.argv[1:], rows, strict=True):
        print(picture, *row)
