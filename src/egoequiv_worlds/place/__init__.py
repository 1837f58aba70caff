"""Landscapes, towns and rooms: every class of places by name, in one visible dict."""

from __future__ import annotations

from collections.abc import Callable

from egoequiv_worlds.place.highway import highway
from egoequiv_worlds.place.homes import bedroom, kitchen, living_room
from egoequiv_worlds.place.industry import industrial
from egoequiv_worlds.place.nature import coast, forest, mountain
from egoequiv_worlds.place.plains import desert, field, snowfield
from egoequiv_worlds.place.town import night_city, street, suburb, tall_building
from egoequiv_worlds.place.workplaces import corridor, office, store
from egoequiv_worlds.render.scene import Scene
from egoequiv_worlds.things.dice import Dice

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
