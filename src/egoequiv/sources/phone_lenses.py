"""The lens of a phone, as Stray Scanner and Record3D export it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.sources.lenses import check_not_turned, lens_or_note, matrix_in, matrix_lens
from egoequiv.sources.trees import FolderTree, Tree

_MATRIX = "camera_matrix.csv"


def stray_lens(folder: Path, size: tuple[int, int], notes: list[str]) -> Lens | None:
    """The lens from camera_matrix.csv, which is for the video; `size` is its height and width."""
    if not (folder / _MATRIX).is_file():
        return None
    tree, where = FolderTree(folder), str(folder / _MATRIX)

    def read() -> Lens:
        return matrix_lens(matrix_in(tree.read(_MATRIX), where), size, where, is_size_stated=False)

    return lens_or_note(read, notes)


def record3d_lens(metadata: Mapping[str, Any], where: str, tree: Tree, first: str, notes: list[str]) -> Lens | None:
    """The lens from K (9 numbers, column by column, or row by row), w and h of the metadata; `first` is a picture."""
    if "K" not in metadata:
        return None

    def read() -> Lens:
        try:
            matrix = np.array(metadata["K"], np.float64).reshape(3, 3)
            size = float(metadata["h"]), float(metadata["w"])
        except (KeyError, ValueError, TypeError, OverflowError):
            raise DataError(f"{where}: expected K of 9 numbers, and w and h") from None
        is_by_rows = not matrix[2, :2].any()
        lens = matrix_lens(matrix if is_by_rows else matrix.T, size, where)
        check_not_turned(size, tree, first, where)
        return lens

    return lens_or_note(read, notes)
