"""The colours of surfaces: the patterns of all paints, averaged over the width of a pixel."""

import numpy as np

from egoequiv.compiled import inlined
from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.render import solids as s
from egoequiv_worlds.render.fragments import Fragment
from egoequiv_worlds.render.noise import Textures
from egoequiv_worlds.render.patterns import chance, mixed, product, pulses, ramp, sample, scaled, step, stripe, triple

TEXELS = 24.0  # of a noise texture in the size that a paint names
WHITE = (1.0, 1.0, 1.0)
Painted = tuple[Vector, float]  # a colour, and how much light it sends out


@inlined
def painted(here: Fragment, rows: Array, k: int, noise: Textures) -> Painted:
    """The colour and the glow of a surface."""
    material, seed = rows[k, s.MATERIAL], rows[k, s.SEED]
    color, other, glow = triple(rows, k, s.RED), triple(rows, k, s.RED_B), rows[k, s.GLOW]
    width, level = 1.4 * min(here.print_u, here.print_v), here.face in (s.BOTTOM, s.TOP)
    if material == s.MOTTLED:
        return mixed(color, other, mottle(here, rows, k, noise, width)), glow
    if material == s.ROAD:
        return lanes(here, rows, k, color, other, noise, width), glow
    if material == s.HILLSIDE:
        return hillside(here, rows, k, color, other, noise, width), glow
    dirt = 1.0
    if width < 0.5:
        rough = rows[k, s.SHARE_U] if material == s.PLAIN else 0.1
        dirt += rough * (sample(noise.fine, 60.0 * here.u + seed, 60.0 * here.v + 2.0 * seed, 60.0 * width) - 0.5)
    if material == s.PLAIN:
        return scaled(color, dirt), glow
    if material == s.GLOSS:
        return color, glow
    if material == s.PANES:
        return cabin(here, rows[k, s.SHARE_U], color, other), glow
    if material == s.FACADE:
        return (scaled(color, dirt), 0.0) if level else walls(here, rows, k, color, other, noise, dirt)
    if material == s.GOODS and not level:
        return shelves(here, rows, k, color, other), glow
    if material == s.OUTSIDE and not level:
        return view_out(here, rows, k, color, other, noise)
    shade, dirt = shaded(here, rows, k, noise, width, dirt)
    return scaled(mixed(color, other, shade), dirt), glow


@inlined
def shaded(here: Fragment, rows: Array, k: int, noise: Textures, width: float, dirt: float) -> tuple[float, float]:
    """The share of the second colour in a pattern of two, and its brightness."""
    material, seed, size, share = rows[k, s.MATERIAL], rows[k, s.SEED], rows[k, s.SCALE_U], rows[k, s.SHARE_U]
    scale = TEXELS / size
    if material == s.STRIPES:
        along, reach = (here.v, here.print_v) if rows[k, s.SHARE_V] > 0.5 else (here.u, here.print_u)
        return pulses(along / size, 0.0, share, reach / size), dirt
    if material == s.ROOF:
        if abs(here.normal[2]) < 0.3:
            return 1.0, dirt
        dirt = 0.75 + 0.4 * pulses(here.v / 0.4, 0.3, 1.0, here.print_v / 0.4)
        return 0.0, dirt + 0.5 * (sample(noise.cloud, 9.0 * here.u + seed, 9.0 * here.v, 9.0 * width) - 0.5)
    if material == s.GRID:
        return cells(here, rows, k, dirt)
    if material == s.BLOTCHES:
        near = sample(noise.cloud, scale * here.u + seed, scale * here.v, scale * width)
        return ramp(near, 0.5 - share, 0.5 + share), dirt
    if material == s.WATER:
        flat = TEXELS / rows[k, s.SCALE_V]
        waves = sample(noise.fine, scale * here.u, flat * here.v, flat * width)
        return ramp(waves, 0.95 - 0.4 * share, 1.1 - 0.3 * share), 0.6 + 0.8 * waves
    return 0.0, dirt


@inlined
def mottle(here: Fragment, rows: Array, k: int, noise: Textures, width: float) -> float:
    """Two octaves of noise, stretched by the paint's contrast, and close by a third."""
    scale = TEXELS / rows[k, s.SCALE_U]
    u, v = here.u * scale + rows[k, s.SEED], here.v * scale
    wide, small = sample(noise.cloud, u, v, width * scale), sample(noise.fine, 2.7 * u, 2.7 * v, 2.7 * width * scale)
    shade = 0.5 + rows[k, s.SHARE_U] * (1.2 * (wide - 0.5) + 1.0 * (small - 0.5))
    if width < 0.3:
        shade += 0.5 * (sample(noise.fine, 9.0 * here.u, 9.0 * here.v, 9.0 * width) - 0.5)
    return float(min(max(shade, 0.0), 1.0))


@inlined
def cells(here: Fragment, rows: Array, k: int, dirt: float) -> tuple[float, float]:
    """Lines between cells, and a brightness for each cell."""
    u, v = here.u / rows[k, s.SCALE_U] + 0.5, here.v / rows[k, s.SCALE_V]
    reach_u, reach_v = here.print_u / rows[k, s.SCALE_U], here.print_v / rows[k, s.SCALE_V]
    line = rows[k, s.SHARE_U]
    line_v = min(0.5, line * rows[k, s.SCALE_U] / rows[k, s.SCALE_V])
    lines = 1.0 - (1.0 - pulses(u, 0.0, line, reach_u)) * (1.0 - pulses(v, 0.0, line_v, reach_v))
    vary = rows[k, s.SHARE_V] * min(max(1.5 - reach_u, 0.0), 1.0) * min(max(1.5 - reach_v, 0.0), 1.0)
    return lines, dirt * (1.0 + vary * (2.0 * chance(np.floor(u), np.floor(v), rows[k, s.SEED]) - 1.0))


@inlined
def hillside(here: Fragment, rows: Array, k: int, color: Vector, top: Vector, noise: Textures, width: float) -> Vector:
    """The second colour above a height, where the slope is not too steep."""
    scale, blend, line_m = TEXELS / rows[k, s.SCALE_U], rows[k, s.SHARE_U], rows[k, s.SCALE_V]
    u, v = here.u * scale, here.v * scale
    wide, small = sample(noise.cloud, u, v, width * scale), sample(noise.fine, 3.1 * u, 3.1 * v, 3.1 * width * scale)
    high = ramp(here.at[2] + 2.5 * blend * (wide - 0.5), line_m - blend, line_m + blend)
    gentle = ramp(here.normal[2] + 0.35 * (small - 0.5), 0.55, 0.75)
    near = sample(noise.fine, 4.0 * here.u, 4.0 * here.v, 4.0 * width) if width < 16.0 else 0.5
    dirt = (0.35 + 0.75 * wide + 0.55 * small) * (0.75 + 0.5 * near)
    return scaled(mixed(color, top, high * gentle), dirt)


@inlined
def lanes(here: Fragment, rows: Array, k: int, color: Vector, other: Vector, noise: Textures, width: float) -> Vector:
    """Asphalt with grain, patches and tracks of wheels; lines at its edges, and dashes between its lanes."""
    lane, dash, x, y = rows[k, s.SCALE_U], rows[k, s.SCALE_V], here.at[0], here.at[1]
    grain = sample(noise.fine, 14.0 * x, 14.0 * y, 14.0 * width)
    patch = sample(noise.cloud, 6.0 * x, 6.0 * y, 6.0 * width)
    track = abs(abs(here.u / lane - np.floor(here.u / lane) - 0.5) - 0.22)
    dirt = 1.0 + 0.6 * (grain - 0.5) + 0.6 * (patch - 0.5) - 0.07 * max(0.0, 1.0 - track / 0.1)
    asphalt = scaled(color, dirt)
    if here.face != s.TOP or rows[k, s.SHARE_V] < 0.0 or here.print_u > 3.0:
        return asphalt
    away, edge = abs(here.u), 0.5 * here.long_u
    line = rows[k, s.SHARE_U] * stripe(away, edge - 0.25, 0.07, here.print_u)
    dashes = pulses((here.v + 0.5 * here.long_v + rows[k, s.BASE]) / dash, 0.0, 0.4, here.print_v / dash)
    for number in range(1, int((edge - 0.6) / lane) + 1):
        line += dashes * stripe(away, number * lane, 0.07, here.print_u)
    line += rows[k, s.SHARE_V] * dashes * stripe(here.u, 0.0, 0.07, here.print_u)
    return mixed(asphalt, other, min(1.0, line * (0.6 + 0.6 * grain)))


@inlined
def cabin(here: Fragment, rim: float, body: Vector, glass: Vector) -> Vector:
    """Glass within a rim of body paint; the top and the ends beside the glass are body."""
    if here.face in (s.BOTTOM, s.TOP):
        return body
    u, v = here.u / here.long_u, here.v / here.long_v
    half = 0.5 - rim * (1.0 + 1.4 * v)  # the sides lean in towards the roof
    inside = stripe(u, 0.0, half, here.print_u / here.long_u) * stripe(v, 0.5, 0.42, here.print_v / here.long_v)
    post = stripe(u, 0.05, 0.02, here.print_u / here.long_u) if here.face in (2, 3) else 0.0
    return mixed(body, glass, inside * (1.0 - post))


@inlined
def walls(here: Fragment, rows: Array, k: int, color: Vector, glass: Vector, noise: Textures, dirt: float) -> Painted:
    """A wall whose windows fit its length and height, each with its own brightness, over shops or a plinth."""
    base, seed, lit_share = rows[k, s.BASE], rows[k, s.SEED] + here.face, rows[k, s.GLOW]
    patches = sample(noise.cloud, 12.0 * here.u + seed, 12.0 * here.v, 12.0 * here.print_u)
    wall = scaled(color, dirt * (0.85 + 0.3 * patches))
    bays = max(1.0, np.rint(here.long_u / rows[k, s.SCALE_U]))
    floors = max(1.0, np.rint((here.long_v - base) / rows[k, s.SCALE_V]))
    x, y = (here.u / here.long_u + 0.5) * bays, (here.v - base) / (here.long_v - base) * floors
    fine_x, fine_y = here.print_u / here.long_u * bays, here.print_v / (here.long_v - base) * floors
    wide, tall = rows[k, s.SHARE_U], rows[k, s.SHARE_V]
    low, board, hue = min(0.5 - tall * 0.42, 0.95 - tall), 0.0, 0.0
    if y < 0.0:
        if base < 2.0:
            return scaled(wall, 0.6), 0.0
        x, y, fine_x, fine_y, wide, tall = 0.5 * x, here.v / base, 0.5 * fine_x, here.print_v / base, 0.86, 0.62
        board = stripe(y, 0.86, 0.08, fine_y) * pulses(x, 0.04, 0.96, fine_x)
        hue = chance(np.floor(x), 3.0, seed)
        low, seed = 0.1, seed + 0.5
    inside = pulses(x, 0.5 - wide / 2, 0.5 + wide / 2, fine_x) * pulses(y, low, low + tall, fine_y)
    rim = min(0.5, wide / 2 + 0.03)
    around = pulses(x, 0.5 - rim, 0.5 + rim, fine_x) * pulses(y, low - 0.04, low + tall + 0.04, fine_y)
    bar, frame = 0.7 * pulses(2.0 * x, 0.46, 0.54, 2.0 * fine_x), (0.7, 0.7, 0.69)
    outer = mixed(wall, frame, 0.75 * max(0.0, around - inside) + 0.3 * pulses(y, 0.0, 0.05, fine_y))
    sign = mixed((0.5, 0.12, 0.1), (0.1, 0.22, 0.4), hue) if hue < 0.6 else (0.65, 0.6, 0.4)
    sharp = min(max(1.6 - max(fine_x, fine_y), 0.0), 1.0)
    own = chance(np.floor(x), np.floor(y), seed) * sharp + 0.5 * (1.0 - sharp)
    pane = scaled(glass, 0.5 + 1.8 * own * own + (3.5 if own > 0.85 else 0.0))
    lit = (1.0 if own < lit_share else 0.0) * sharp + lit_share * (1.0 - sharp)
    pane = mixed(pane, (0.9, 0.9 - 0.2 * own, 0.9 - 0.4 * own), lit)
    glow = inside * (1.0 - bar) * lit * (0.1 + 1.1 * (own / max(lit_share, 0.05)) ** 2) if lit > 0.0 else 0.0
    return mixed(mixed(outer, mixed(pane, frame, bar), inside), sign, board), glow


@inlined
def shelves(here: Fragment, rows: Array, k: int, color: Vector, back: Vector) -> Vector:
    """Items side by side on shelves, each with its own height and colour."""
    seed, full, colorful = rows[k, s.SEED], rows[k, s.SHARE_U], rows[k, s.SHARE_V]
    row = np.floor(here.v / rows[k, s.SCALE_V])
    above, reach = here.v / rows[k, s.SCALE_V] - row, max(here.print_v / rows[k, s.SCALE_V], 1e-3)
    pack = 1.0 + np.floor(3.0 * chance(row, 0.0, seed))  # items of one kind stand together
    u = here.u / rows[k, s.SCALE_U] * (0.7 + 0.6 * chance(row, 1.0, seed)) + 50.0
    item, group = np.floor(u), np.floor(u / pack)
    tall = full * (0.7 + 0.3 * chance(group, row, 3.0 + seed))
    filled = step(tall - above, reach) if chance(item, row, 9.0 + seed) < 0.4 + 0.6 * full else 0.0
    label = 1.0 + 0.7 * (pulses(above * 3.0, 0.0, 0.35, 3.0 * reach) - 0.35) * colorful
    gap = pulses(u, 0.0, 0.14, here.print_u / rows[k, s.SCALE_U])
    bright = (0.35 + 1.2 * chance(group, row, 5.0 + seed)) * label * (1.0 - 0.7 * gap)
    red, green, blue = chance(group, row, 7.0 + seed), chance(group, row + 31.0, 7.0 + seed), chance(group, row, seed)
    hue = (1.0 - colorful * red, 1.0 - colorful * green, 1.0 - colorful * blue)
    return mixed(mixed(scaled(back, 0.35), product(color, hue, bright), filled), back, step(0.07 - above, reach))


@inlined
def view_out(here: Fragment, rows: Array, k: int, above: Vector, below: Vector, noise: Textures) -> Painted:
    """Sky above a dark line of trees or houses, behind the bars of a window."""
    seed, pane_m, scale = rows[k, s.SEED], rows[k, s.SCALE_U], 30.0
    edge = sample(noise.cloud, scale * here.u + seed, 3.0, scale * here.print_u)
    dark = 0.5 + sample(noise.cloud, 2.0 * scale * here.u, 2.0 * scale * here.v + seed, 2.0 * scale * here.print_u)
    line = rows[k, s.SHARE_U] + 0.6 * (edge - 0.5)
    seen = mixed(scaled(below, dark), above, ramp(here.v / here.long_v, line - 0.03, line + 0.03))
    rim = min(0.5 * here.long_u - abs(here.u), here.v, here.long_v - here.v)
    bars = max(1.0 if rim < 0.05 else 0.0, pulses(here.u / pane_m + 0.03, 0.0, 0.06, here.print_u / pane_m))
    bars = max(bars, pulses(here.v / pane_m + 0.03, 0.0, 0.06, here.print_v / pane_m))
    return mixed(seen, scaled(WHITE, 0.75), bars), rows[k, s.GLOW] * (1.0 - 0.92 * bars)
