"""Videos of the tests, and the one of docs/formats/video.md."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np


def write_video(
    path: Path,
    images: np.ndarray,
    *,
    codec: str = "libx264",
    rate: int = 30,
    gop: int = 12,
    pts: np.ndarray | None = None,
    turned: int = 0,
    b_frames: int | None = None,
) -> None:
    """Write images (N, H, W) or (N, H, W, 3) as a video; ffv1 keeps every pixel. `pts` are times in milliseconds.

    A player turns the pictures by `turned` degrees to the left before it shows them. Up to `b_frames` frames in a row
    need a later one to be decoded; by default as many as the codec likes.
    """
    gray = images.ndim == 3
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = images.shape[1:3]
        stream.pix_fmt = ("gray" if gray else "bgr0") if codec == "ffv1" else "yuv420p"
        stream.codec_context.gop_size = gop
        if b_frames is not None:
            stream.codec_context.max_b_frames = b_frames
        if turned:
            stream.set_display_rotation(turned)
        stream.codec_context.time_base = Fraction(1, 1000) if pts is not None else Fraction(1, rate)
        for k, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="gray" if gray else "rgb24")
            frame.pts = k if pts is None else int(pts[k])
            frame.time_base = stream.codec_context.time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def moving_pictures(count: int, height: int = 48, width: int = 64, start: float = 0.0) -> np.ndarray:
    """Smooth pictures (N, H, W, 3), each a little to the right of the one before it."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    frames = []
    for k in range(count):
        moved = x + start + 2 * k
        layers = [127 + 100 * np.sin(moved / 9) * np.cos(y / 7), 127 + 100 * np.cos(moved / 15), 3 * y + moved / 4]
        frames.append(np.clip(np.stack(layers, axis=-1), 0, 255).astype(np.uint8))
    return np.stack(frames)


def prepare(folder: Path) -> None:
    """Two clips, for the page on plain videos."""
    (folder / "clips").mkdir()
    write_video(folder / "clips" / "kitchen.mp4", moving_pictures(60), rate=5)
    write_video(folder / "clips" / "garden.mp4", moving_pictures(60, start=300), rate=5)
