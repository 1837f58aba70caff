"""Landscapes, towns and rooms: every class of places by name.

A class is a function from dice to a scene, which has the name of the class and is listed here.
"""

from collections.abc import Callable

from egoequiv_worlds.place.homes import bedroom, kitchen, living_room
from egoequiv_worlds.place.industry import industrial
from egoequiv_worlds.place.landscapes import coast, desert, field, forest, mountain, snowfield
from egoequiv_worlds.place.town import highway, night_city, street, suburb, tall_building
from egoequiv_worlds.place.workplaces import corridor, office, store
from egoequiv_worlds.render.scene import Scene
from egoequiv_worlds.things import Dice

_INDOORS = (bedroom, corridor, kitchen, living_room, office, store)
_OUTDOORS = (coast, desert, field, forest, highway, industrial, mountain, snowfield)
_IN_TOWN = (night_city, street, suburb, tall_building)
_BY_NAME: dict[str, Callable[[Dice], Scene]] = {each.__name__: each for each in (*_INDOORS, *_OUTDOORS, *_IN_TOWN)}
COMPOSITIONS = dict(sorted(_BY_NAME.items()))
