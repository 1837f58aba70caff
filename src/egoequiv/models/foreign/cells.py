"""Maps and tokens as cells: what a layer gives of each part of a picture, so that where things are is kept."""

from __future__ import annotations

import re
from math import gcd, sqrt

import torch
from torch import Tensor

from egoequiv.errors import ConfigError, DataError

AREA = 80 * 256  # pixels of the picture that a backbone sees, where no size is given
STRIDE = 16  # pixels between the cells of a map, where a model does not say it
MOST_EXTRA = 16  # tokens that are no patches: class and register tokens
MOST_CELLS = 4_096

Sides = tuple[int, int]


def sides_in(text: str, what: str) -> Sides:
    """Such as 3x8: rows and columns, or height and width."""
    found = re.fullmatch(r"\s*(\d{1,4})\s*x\s*(\d{1,4})\s*", text.lower())
    if found is None or not int(found[1]) or not int(found[2]):
        raise ConfigError(f"{what}={text!r}: expected two numbers such as 3x8")
    return int(found[1]), int(found[2])


def in_words(sides: Sides) -> str:
    """The same as a text."""
    return f"{sides[0]}x{sides[1]}"


def usual_grid(height: int, width: int, most: int) -> Sides:
    """A map as it is, if it has at most so many cells; otherwise about as many in its shape."""
    if height * width <= most:
        return height, width
    rows = min(max(round(sqrt(most * height / width)), 1), most)
    return rows, max(most // rows, 1)


def usual_size(height: int, width: int, stride: int) -> Sides:
    """Height and width that a backbone sees of pictures of this shape: multiples of the stride, about 20,000 pixels."""
    scale = sqrt(AREA / (height * width))
    down, across = (max(round(side * scale / stride), 1) * stride for side in (height, width))
    return down, across


def as_map(values: Tensor, height: int, width: int, patch: int | None) -> Tensor:
    """Maps (B, C, h, w), or tokens (B, T, C) of a picture laid out as the map of its patches.

    Class and register tokens come before the patches and are left out.
    """
    if values.dim() == 4:
        return values
    if values.dim() != 3:
        raise DataError(f"expected maps (B, C, h, w) or tokens (B, T, C), found {tuple(values.shape)}")
    if patch and (height % patch or width % patch):
        near = in_words((max(round(height / patch), 1) * patch, max(round(width / patch), 1) * patch))
        raise DataError(f"a picture of {height} x {width} does not divide into patches of {patch}: take {near}")
    for stride in [patch] if patch else [14, 16, 8, 32, 4]:
        down, across = height // stride, width // stride
        for side in (down, across), (down // 2, across // 2), (down // 4, across // 4), (down // 8, across // 8):
            extra = values.shape[1] - side[0] * side[1]
            if side[0] * side[1] and 0 <= extra <= MOST_EXTRA:
                return values[:, extra:].mT.reshape(values.shape[0], -1, *side)
    raise DataError(
        f"{values.shape[1]} tokens are not the patches of a picture of {height} x {width}: choose another layer, or "
        "another size"
    )


def cells_of(maps: Tensor, grid: Sides) -> Tensor:
    """Maps (B, C, h, w) averaged to so many rows and columns of cells, (B, C * rows * columns).

    A product with a matrix, which every runtime has. Where the grid divides the map it is adaptive average pooling;
    elsewhere a place counts in each cell by its share of it.
    """
    down, across = maps.shape[2:]
    rows, columns = _shares(down, grid[0]), _shares(across, grid[1])
    return (rows.to(maps) @ maps @ columns.to(maps).mT).flatten(1)


def _shares(side: int, cells: int) -> Tensor:
    """What each place of a side adds to each cell, (cells, side); a cell is part of a place where there are fewer."""
    fine = side * cells // gcd(side, cells)  # both are multiples of this step
    share = torch.eye(cells).repeat_interleave(fine // cells, 1)  # (cells, fine)
    return share.view(cells, side, fine // side).sum(2) * (cells / fine)
