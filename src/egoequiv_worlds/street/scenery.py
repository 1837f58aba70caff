"""What stands beside the roads of each kind of area."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from egoequiv_worlds.street.areas import MEDIAN_M
from egoequiv_worlds.street.roadside import (
    Site,
    benches,
    farms,
    front_garden,
    junction_lights,
    lamps,
    parked_cars,
    path,
    rails,
    signs,
    thickets,
    trees,
)
from egoequiv_worlds.things.buildings import block, front, hall, house, tower
from egoequiv_worlds.things.street_furniture import delineator, gantry, sign


def furnish(site: Site) -> None:
    """Put buildings, plants, parked cars and street furniture along all roads of a drive."""
    BUILDERS[site.drive.area](site)


def _campus(site: Site) -> None:
    dice, style, season = site.dice, site.drive.style, site.dice.between(0.0, 0.5)
    for road, side in site.sides():
        at = dice.between(0.0, 15.0)
        while at < road.lengths_m[-1]:
            width, depth, away_m = dice.between(24.0, 52.0), dice.between(12.0, 18.0), dice.between(9.0, 20.0)
            spot = site.beside(road, at + width / 2, side, style.half_width_m + away_m)
            if site.reserve(spot, width, depth, 6.0):
                hall(spot, dice, width, depth)
                path(spot, away_m - style.pavement_m)
                at += width + dice.between(8.0, 25.0)
            else:
                at += 9.0
    for road, side in site.sides():
        trees(site, road, side, every_m=(7.0, 17.0), away_m=(3.2, 8.0), tall_m=(6.0, 12.0), season=season)
        trees(site, road, side, every_m=(16.0, 45.0), away_m=(10.0, 30.0), tall_m=(7.0, 13.0), season=season)
        lamps(site, road, side, every_m=30.0, tall_m=4.0, reach_m=0.4, away_m=1.7)
        parked_cars(site, road, side, share=0.06)
        benches(site, road, side)


def _city(site: Site) -> None:
    dice, style = site.dice, site.drive.style
    for road, side in site.sides():
        at = 0.0
        while at < road.lengths_m[-1]:
            width = dice.between(11.0, 21.0)
            for part in (1.0, 0.6, 0.35, 0.0):  # a corner takes a narrower house
                wide = part * width
                spot = site.beside(road, at + wide / 2, side, style.half_width_m + style.pavement_m + 0.2)
                if part > 0.0 and site.reserve(spot, wide, 13.0, style.pavement_m - 0.4):
                    if wide > 15.0 and dice.chance(0.3):
                        tower(spot, dice, dice.between(25.0, 42.0), wide, 16.0)
                    else:
                        block(spot, dice, wide, 13.0, dice.between(11.0, 24.0), front(dice))
                    break
            at += wide + 0.05 if part > 0.0 else 2.0
    for road, side in site.sides():
        lamps(site, road, side, every_m=26.0, tall_m=7.5, reach_m=1.8)
        parked_cars(site, road, side, share=0.75)
        trees(site, road, side, every_m=(14.0, 40.0), away_m=(1.0, 1.2), tall_m=(5.0, 8.0), season=0.2)
    junction_lights(site)
    signs(site, 0.5)


def _residential(site: Site) -> None:
    dice, style, season = site.dice, site.drive.style, site.dice.between(0.0, 0.4)
    for road, side in site.sides():
        at = dice.between(0.0, 6.0)
        while at < road.lengths_m[-1]:
            width, depth, front_m = dice.between(8.5, 13.0), dice.between(8.0, 11.0), dice.between(4.0, 7.5)
            spot = site.beside(road, at + width / 2, side, style.half_width_m + style.pavement_m + front_m)
            if site.reserve(spot, width, depth, style.pavement_m + 2.5):
                house(spot, dice, width, depth)
                front_garden(site, road, side, at, width, front_m)
                at += width + dice.between(3.5, 9.0)
            else:
                at += 3.0
    for road, side in site.sides():
        trees(site, road, side, every_m=(14.0, 34.0), away_m=(3.0, 12.0), tall_m=(4.5, 9.0), season=season)
        trees(site, road, side, every_m=(12.0, 26.0), away_m=(20.0, 34.0), tall_m=(8.0, 14.0), season=season)
        lamps(site, road, side, every_m=38.0, tall_m=5.0, reach_m=0.8)
        parked_cars(site, road, side, share=0.3 if side > 0 else 0.22)
    signs(site, 0.4)


def _road(site: Site) -> None:
    dice, half, road = site.dice, site.drive.style.half_width_m, site.way.middle
    for side in (1, -1):
        rails(site, road, side * (half + 0.6), dice.between(0.4, 1.0))
        for at in np.arange(12.0, road.lengths_m[-1], 50.0):
            delineator(site.beside(road, float(at), side, half + 0.9))
        trees(site, road, side, every_m=(14.0, 80.0), away_m=(9.0, 30.0), tall_m=(5.0, 13.0), season=0.2)
        trees(site, road, side, every_m=(6.0, 30.0), away_m=(45.0, 130.0), tall_m=(8.0, 16.0), season=0.2)
        thickets(site, road, side)
        farms(site, road, side)
    rails(site, road, MEDIAN_M * 0.4, 1.0)
    for at in np.arange(dice.between(60.0, 200.0), road.lengths_m[-1], dice.between(260.0, 420.0)):
        spot = site.beside(road, float(at), -1, half + 1.6)
        if dice.chance(0.5):
            gantry(spot, half - 1.0)
        else:
            sign(spot, 2)


BUILDERS: Mapping[str, Callable[[Site], None]] = {
    "campus": _campus,
    "city": _city,
    "residential": _residential,
    "road": _road,
}
