"""Paints: patterns in two colours, from which everything outside of the toy room is coloured."""

from __future__ import annotations

from dataclasses import dataclass, replace

Rgb = tuple[float, float, float]  # linear reflectance, 0 to 1

PLAIN, MOTTLED, STRIPES, GRID, FACADE, GOODS, BLOTCHES, WATER, ROAD, OUTSIDE, HILLSIDE, GLOSS, PANES, ROOF = range(14)


@dataclass(frozen=True)
class Paint:
    """A pattern in two colours; what the sizes and shares mean depends on the material."""

    material: int
    color: Rgb
    other: Rgb
    scale_u_m: float = 1.0
    scale_v_m: float = 1.0
    share_u: float = 0.5
    share_v: float = 0.5
    glow: float = 0.0  # light it sends out itself
    base: float = 0.0

    def values(self) -> tuple[float, ...]:
        """The columns of a solid's row from MATERIAL up to BASE."""
        scales = (self.scale_u_m, self.scale_v_m, self.share_u, self.share_v)
        return (self.material, *self.color, *self.other, *scales, self.glow, self.base)

    def glowing(self, glow: float) -> Paint:
        """The same paint, sending out light."""
        return replace(self, glow=glow)


def scaled(color: Rgb, by: float) -> Rgb:
    """A colour made brighter or darker."""
    return (color[0] * by, color[1] * by, color[2] * by)


def plain(color: Rgb, grain: float = 0.1) -> Paint:
    """One colour with a little grain."""
    return Paint(PLAIN, color, color, share_u=grain)


def gloss(color: Rgb, mirror: float = 1.0) -> Paint:
    """Smooth paint or glass that mirrors the horizon, more so at a low angle."""
    return Paint(GLOSS, color, color, share_u=mirror)


def panes(body: Rgb, glass: Rgb, rim: float = 0.08) -> Paint:
    """The cabin of a car: on each side glass within a rim of body paint, with a post where the side is long."""
    return Paint(PANES, body, glass, share_u=rim)


def mottled(color: Rgb, other: Rgb, size_m: float, contrast: float = 1.0) -> Paint:
    """Two colours mixed by noise: grass, soil, rock, leaves."""
    return Paint(MOTTLED, color, other, size_m, size_m, contrast)


def stripes(color: Rgb, other: Rgb, period_m: float, share: float = 0.5, lying: bool = False) -> Paint:
    """Upright or lying stripes: curtains, siding, planks, corrugated iron."""
    return Paint(STRIPES, color, other, period_m, period_m, share, 1.0 if lying else 0.0)


def roof(tiles: Rgb, wall: Rgb) -> Paint:
    """Rows of tiles on slopes, and a wall on upright gables."""
    return Paint(ROOF, tiles, wall, 0.4, 0.4)


def grid(color: Rgb, lines: Rgb, width_m: float, height_m: float, line: float = 0.08, vary: float = 0.15) -> Paint:
    """Cells between lines that take a share of a cell: tiles, cabinet doors, panels."""
    return Paint(GRID, color, lines, width_m, height_m, line, vary)


def facade(
    wall: Rgb, glass: Rgb, bay_m: float, floor_m: float, window: tuple[float, float], lit: float = 0.0, base: float = 0
) -> Paint:
    """A wall with windows that take shares of bays and floors, some of them lit, over a base: shops if it is high."""
    return Paint(FACADE, wall, glass, bay_m, floor_m, *window, lit, base)


def goods(color: Rgb, back: Rgb, item_m: float, shelf_m: float, fullness: float = 0.8, colorful: float = 0.8) -> Paint:
    """Shelves with items of many colours: books or a store's goods."""
    return Paint(GOODS, color, back, item_m, shelf_m, fullness, colorful)


def blotches(color: Rgb, other: Rgb, size_m: float, edge: float = 0.08) -> Paint:
    """Patches with clear edges: paintings, flowered cloth, foam."""
    return Paint(BLOTCHES, color, other, size_m, size_m, edge)


def water(deep: Rgb, foam: Rgb, wave_m: float, roughness: float) -> Paint:
    """Water that mirrors the sky, the less the rougher it is."""
    return Paint(WATER, deep, foam, wave_m, wave_m * 3, roughness)


def road(
    asphalt: Rgb, lines: Rgb, lane_m: float, dash_m: float, middle: float = 1.0, start_m: float = 0.0, edge: float = 0.9
) -> Paint:
    """A road along y with lines at its edges and dashes between its lanes; `middle` below 0 leaves it bare."""
    return Paint(ROAD, asphalt, lines, lane_m, dash_m, edge, middle, 0.0, start_m)


def outside(sky: Rgb, below: Rgb, pane_m: float, glow: float, skyline: float = 0.4) -> Paint:
    """What is seen through a window: sky above something darker, behind bars."""
    return Paint(OUTSIDE, sky, below, pane_m, pane_m, skyline, 0.05, glow)


def hillside(low: Rgb, high: Rgb, size_m: float, line_m: float, blend_m: float) -> Paint:
    """Land that changes colour above a height and on gentle slopes: rock and snow, grass and rock."""
    return Paint(HILLSIDE, low, high, size_m, line_m, blend_m)
