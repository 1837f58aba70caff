"""How the worlds are drawn: geometry, noise, patterns, visibility and light, on arrays of these types.

Compiled code takes vectors as three numbers, because a small array costs more.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int32]
Singles = NDArray[np.float32]
Vector = tuple[float, float, float]


def vector(values: Sequence[float] | Array) -> Vector:
    """Three numbers as compiled code takes them."""
    x, y, z = values
    return float(x), float(y), float(z)
