"""Pictures made small."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.store.shrinking import shrink


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 20), st.integers(1, 20))
def test_images_are_made_smaller_by_means_of_blocks(height: int, width: int, most_high: int, most_wide: int) -> None:
    images = np.random.default_rng(height).integers(0, 256, (2, height, width, 3), np.uint8)
    small = shrink(images, most_high, most_wide)
    assert small.shape[1] <= most_high
    assert small.shape[2] <= most_wide
    down, across = height // small.shape[1], width // small.shape[2]
    if height <= most_high and width <= most_wide:
        assert small is images
    else:
        down, across = -(-height // most_high), -(-width // most_wide)
        assert small[1, 0, 0, 2] == round(float(images[1, :down, :across, 2].mean()))
