"""What stands beside the roads of each kind of area."""

from collections.abc import Callable

import numpy as np

from egoequiv_worlds.street import MEDIAN_M
from egoequiv_worlds.street.roadside import Kerb, Site, path
from egoequiv_worlds.things.buildings import block, front, hall, house, tower
from egoequiv_worlds.things.streets import delineator, gantry, sign


def furnish(site: Site) -> None:
    """Put buildings, plants, parked cars and street furniture along all roads of a drive."""
    BUILDERS[site.drive.area](site)


def _rows(site: Site, first_m: float, build: Callable[[Kerb, float], float]) -> None:
    """Buildings along both sides of all roads: `build` puts one at a length along a kerb, and says how long it is."""
    for kerb in site.kerbs():
        at = site.dice.between(0.0, first_m) if first_m else 0.0
        while at < kerb.end_m:
            at += build(kerb, at)


def _campus(site: Site) -> None:
    dice, style, season = site.dice, site.drive.style, site.dice.between(0.0, 0.5)

    def build(kerb: Kerb, at: float) -> float:
        width, depth, away_m = dice.between(24.0, 52.0), dice.between(12.0, 18.0), dice.between(9.0, 20.0)
        spot = kerb.spot(at + width / 2, style.half_width_m + away_m)
        if not site.reserve(spot, width, depth, 6.0):
            return 9.0
        hall(spot, dice, width, depth)
        path(spot, away_m - style.pavement_m)
        return width + dice.between(8.0, 25.0)

    _rows(site, 15.0, build)
    for kerb in site.kerbs():
        kerb.trees(every_m=(7.0, 17.0), away_m=(3.2, 8.0), tall_m=(6.0, 12.0), season=season)
        kerb.trees(every_m=(16.0, 45.0), away_m=(10.0, 30.0), tall_m=(7.0, 13.0), season=season)
        kerb.lamps(every_m=30.0, tall_m=4.0, reach_m=0.4, away_m=1.7)
        kerb.parked_cars(share=0.06)
        kerb.benches()


def _city(site: Site) -> None:
    dice, style = site.dice, site.drive.style

    def build(kerb: Kerb, at: float) -> float:
        width = dice.between(11.0, 21.0)
        for part in (1.0, 0.6, 0.35):  # a corner takes a narrower house
            wide = part * width
            spot = kerb.spot(at + wide / 2, style.half_width_m + style.pavement_m + 0.2)
            if site.reserve(spot, wide, 13.0, style.pavement_m - 0.4):
                if wide > 15.0 and dice.chance(0.3):
                    tower(spot, dice, dice.between(25.0, 42.0), wide, 16.0)
                else:
                    block(spot, dice, wide, 13.0, dice.between(11.0, 24.0), front(dice))
                return wide + 0.05
        return 2.0

    _rows(site, 0.0, build)
    for kerb in site.kerbs():
        kerb.lamps(every_m=26.0, tall_m=7.5, reach_m=1.8)
        kerb.parked_cars(share=0.75)
        kerb.trees(every_m=(14.0, 40.0), away_m=(1.0, 1.2), tall_m=(5.0, 8.0))
    site.junction_lights()
    site.signs(0.5)


def _residential(site: Site) -> None:
    dice, style, season = site.dice, site.drive.style, site.dice.between(0.0, 0.4)

    def build(kerb: Kerb, at: float) -> float:
        width, depth, front_m = dice.between(8.5, 13.0), dice.between(8.0, 11.0), dice.between(4.0, 7.5)
        spot = kerb.spot(at + width / 2, style.half_width_m + style.pavement_m + front_m)
        if not site.reserve(spot, width, depth, style.pavement_m + 2.5):
            return 3.0
        house(spot, dice, width, depth)
        kerb.front_garden(at, width, front_m)
        return width + dice.between(3.5, 9.0)

    _rows(site, 6.0, build)
    for kerb in site.kerbs():
        kerb.trees(every_m=(14.0, 34.0), away_m=(3.0, 12.0), tall_m=(4.5, 9.0), season=season)
        kerb.trees(every_m=(12.0, 26.0), away_m=(20.0, 34.0), tall_m=(8.0, 14.0), season=season)
        kerb.lamps(every_m=38.0, tall_m=5.0, reach_m=0.8)
        kerb.parked_cars(share=0.3 if kerb.side > 0 else 0.22)
    site.signs(0.4)


def _road(site: Site) -> None:
    dice, half = site.dice, site.drive.style.half_width_m
    left, right = (Kerb(site, site.way.middle, side) for side in (1, -1))
    for kerb in (left, right):
        kerb.rails(kerb.side * (half + 0.6), dice.between(0.4, 1.0))
        for at in np.arange(12.0, kerb.end_m, 50.0):
            delineator(kerb.spot(at, half + 0.9))
        kerb.trees(every_m=(14.0, 80.0), away_m=(9.0, 30.0), tall_m=(5.0, 13.0))
        kerb.trees(every_m=(6.0, 30.0), away_m=(45.0, 130.0), tall_m=(8.0, 16.0))
        kerb.thickets()
        kerb.farms()
    right.rails(MEDIAN_M * 0.4, 1.0)
    for at in np.arange(dice.between(60.0, 200.0), right.end_m, dice.between(260.0, 420.0)):
        spot = right.spot(at, half + 1.6)
        if dice.chance(0.5):
            gantry(spot, half - 1.0)
        else:
            sign(spot, 2)


BUILDERS = {"campus": _campus, "city": _city, "residential": _residential, "road": _road}
