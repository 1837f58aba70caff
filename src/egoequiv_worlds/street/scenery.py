"""What stands beside the roads of each kind of area."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from egoequiv_worlds.street.areas import MEDIAN_M
from egoequiv_worlds.street.buildings import hall, house, tower, town_house
from egoequiv_worlds.street.furniture import delineator, gantry, sign
from egoequiv_worlds.street.roadside import (
    Site,
    benches,
    beside,
    farms,
    front_garden,
    junction_lights,
    lamps,
    parked_cars,
    path,
    rails,
    sides,
    signs,
    thickets,
    trees,
)


def furnish(site: Site) -> None:
    """Put buildings, plants, parked cars and street furniture along all roads of a drive."""
    BUILDERS[site.drive.area](site)


def _campus(site: Site) -> None:
    rng, style = site.rng, site.drive.style
    season = rng.uniform(0.0, 0.5)
    for road, side in sides(site):
        at = rng.uniform(0.0, 15.0)
        while at < road.lengths_m[-1]:
            width, depth = rng.uniform(24.0, 52.0), rng.uniform(12.0, 18.0)
            back = style.half_width_m + rng.uniform(9.0, 20.0)
            spot = beside(road, at + width / 2, side, back)
            if site.reserve(spot, width, depth, 6.0):
                site.put(hall(rng, width, depth), spot)
                path(site, spot, back - style.half_width_m - style.pavement_m)
                at += width + rng.uniform(8.0, 25.0)
            else:
                at += 9.0
    for road, side in sides(site):
        trees(site, road, side, every_m=(7.0, 17.0), away_m=(3.2, 8.0), tall_m=(6.0, 12.0), season=season)
        trees(site, road, side, every_m=(16.0, 45.0), away_m=(10.0, 30.0), tall_m=(7.0, 13.0), season=season)
        lamps(site, road, side, every_m=30.0, tall_m=4.0, reach_m=0.4, away_m=1.7)
        parked_cars(site, road, side, share=0.06)
        benches(site, road, side)


def _city(site: Site) -> None:
    rng, style = site.rng, site.drive.style
    back = style.half_width_m + style.pavement_m
    for road, side in sides(site):
        at = 0.0
        while at < road.lengths_m[-1]:
            width = rng.uniform(11.0, 21.0)
            spot = beside(road, at + width / 2, side, back + rng.uniform(0.0, 0.3))
            built = False
            for part in (1.0, 0.6, 0.35):  # a corner takes a narrower house
                spot = beside(road, at + part * width / 2, side, back + 0.2)
                if site.reserve(spot, part * width, 13.0, style.pavement_m - 0.4):
                    tall = part == 1.0 and width > 15.0 and rng.random() < 0.3
                    site.put((tower if tall else town_house)(rng, part * width), spot)
                    at += part * width + 0.05
                    built = True
                    break
            at += 0.0 if built else 2.0
    for road, side in sides(site):
        lamps(site, road, side, every_m=26.0, tall_m=7.5, reach_m=1.8)
        parked_cars(site, road, side, share=0.75)
        trees(site, road, side, every_m=(14.0, 40.0), away_m=(1.0, 1.2), tall_m=(5.0, 8.0), season=0.2)
    junction_lights(site)
    signs(site, 0.5)


def _residential(site: Site) -> None:
    rng, style = site.rng, site.drive.style
    season = rng.uniform(0.0, 0.4)
    for road, side in sides(site):
        at = rng.uniform(0.0, 6.0)
        while at < road.lengths_m[-1]:
            width, depth = rng.uniform(8.5, 13.0), rng.uniform(8.0, 11.0)
            front_m = rng.uniform(4.0, 7.5)
            spot = beside(road, at + width / 2, side, style.half_width_m + style.pavement_m + front_m)
            if site.reserve(spot, width, depth, style.pavement_m + 2.5):
                site.put(house(rng, width, depth), spot)
                front_garden(site, road, side, at, width, front_m, season)
                at += width + rng.uniform(3.5, 9.0)
            else:
                at += 3.0
    for road, side in sides(site):
        trees(site, road, side, every_m=(14.0, 34.0), away_m=(3.0, 12.0), tall_m=(4.5, 9.0), season=season)
        trees(site, road, side, every_m=(12.0, 26.0), away_m=(20.0, 34.0), tall_m=(8.0, 14.0), season=season)
        lamps(site, road, side, every_m=38.0, tall_m=5.0, reach_m=0.8)
        parked_cars(site, road, side, share=0.3 if side > 0 else 0.22)
    signs(site, 0.4)


def _road(site: Site) -> None:
    rng, style = site.rng, site.drive.style
    road = site.way.middle
    for side in (1, -1):
        rails(site, road, side, style.half_width_m + 0.6, rng.uniform(0.4, 1.0))
        for at in np.arange(12.0, road.lengths_m[-1], 50.0):
            site.put(delineator(), beside(road, float(at), side, style.half_width_m + 0.9))
        trees(site, road, side, every_m=(14.0, 80.0), away_m=(9.0, 30.0), tall_m=(5.0, 13.0), season=0.2)
        trees(site, road, side, every_m=(6.0, 30.0), away_m=(45.0, 130.0), tall_m=(8.0, 16.0), season=0.2)
        thickets(site, road, side)
        farms(site, road, side)
    rails(site, road, 1, MEDIAN_M * 0.4, 1.0)
    for at in np.arange(rng.uniform(60.0, 200.0), road.lengths_m[-1], rng.uniform(260.0, 420.0)):
        spot = beside(road, float(at), -1, style.half_width_m + 1.6)
        site.put(gantry(style.half_width_m - 1.0) if rng.random() < 0.5 else sign(2), spot)


BUILDERS: Mapping[str, Callable[[Site], None]] = {
    "campus": _campus,
    "city": _city,
    "residential": _residential,
    "road": _road,
}
