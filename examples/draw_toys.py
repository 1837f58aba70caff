"""Draw the toys of the embedded turntable: all of them, then one from many views and under every lighting.

Usage: python examples/draw_toys.py [OUT.png]
"""

import sys
from pathlib import Path

from egoequiv import open_source
from egoequiv.report.pictures import picture_grid, save_picture


def main(out: Path) -> None:
    """Write the picture."""
    source = open_source("turntable")
    by_name = {recording.name: recording for recording in source.recordings}
    categories = list(dict.fromkeys(recording.attributes["category"] for recording in source.recordings))

    def view(name: str, elevation: int, azimuth: int):
        return by_name[name].image(elevation * 18 + azimuth)[..., None]

    rows, titles = [], []
    for category in categories:
        toys = [view(f"{category}-{k}/light-0", 1, 2) for k in range(5)]
        turned = [view(f"{category}-{k}/light-2", 5, 11) for k in range(5)]
        rows.append(toys + turned)
        titles.append(f"{category}: five toys, from two sides")
    rows.append([view("truck-2/light-0", 3, k) for k in range(10)])
    titles.append("right: ten steps of azimuth, 20 degrees each")
    rows.append([view("truck-2/light-0", k, 3) for k in range(9)])
    titles.append("up: nine elevations, 5 degrees apart")
    rows.append([view(f"animal-0/light-{k}", 3, 2) for k in range(6)])
    titles.append("six lightings")
    save_picture(picture_grid(rows, titles), out)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "toys.png"))
