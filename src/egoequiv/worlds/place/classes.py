"""Every class of places by name, in one visible dict."""

from __future__ import annotations

from collections.abc import Callable

from egoequiv.worlds.place.dice import Dice
from egoequiv.worlds.place.highway import highway
from egoequiv.worlds.place.homes import bedroom, kitchen, living_room
from egoequiv.worlds.place.industry import industrial
from egoequiv.worlds.place.nature import coast, forest, mountain
from egoequiv.worlds.place.night import night_city
from egoequiv.worlds.place.plains import desert, field, snowfield
from egoequiv.worlds.place.scene import Scene
from egoequiv.worlds.place.town import street, suburb, tall_building
from egoequiv.worlds.place.workplaces import corridor, office, store

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
