"""Every class of places by name, in one visible dict."""

from __future__ import annotations

from collections.abc import Callable

from egoequiv.worlds.place_dice import Dice
from egoequiv.worlds.place_highway import highway
from egoequiv.worlds.place_homes import bedroom, kitchen, living_room
from egoequiv.worlds.place_industry import industrial
from egoequiv.worlds.place_nature import coast, forest, mountain
from egoequiv.worlds.place_night import night_city
from egoequiv.worlds.place_plains import desert, field, snowfield
from egoequiv.worlds.place_scene import Scene
from egoequiv.worlds.place_town import street, suburb, tall_building
from egoequiv.worlds.place_workplaces import corridor, office, store

COMPOSITIONS: dict[str, Callable[[Dice], Scene]] = {
    "bedroom": bedroom,
    "coast": coast,
    "corridor": corridor,
    "desert": desert,
    "field": field,
    "forest": forest,
    "highway": highway,
    "industrial": industrial,
    "kitchen": kitchen,
    "living_room": living_room,
    "mountain": mountain,
    "night_city": night_city,
    "office": office,
    "snowfield": snowfield,
    "store": store,
    "street": street,
    "suburb": suburb,
    "tall_building": tall_building,
}
