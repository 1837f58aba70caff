"""Videos of the tests."""

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
) -> None:
    """Write images (N, H, W) or (N, H, W, 3) as a video; ffv1 keeps every pixel. `pts` are times in milliseconds."""
    gray = images.ndim == 3
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = images.shape[1:3]
        stream.pix_fmt = ("gray" if gray else "bgr0") if codec == "ffv1" else "yuv420p"
        stream.codec_context.gop_size = gop
        stream.codec_context.time_base = Fraction(1, 1000) if pts is not None else Fraction(1, rate)
        for k, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="gray" if gray else "rgb24")
            frame.pts = k if pts is None else int(pts[k])
            frame.time_base = stream.codec_context.time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
