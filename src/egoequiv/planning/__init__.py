"""From this view to that one: plans of motions, by composed maps."""

from egoequiv.planning.planner import Planner as Planner
from egoequiv.planning.planner import Walk as Walk
from egoequiv.planning.spread import measure_spread as measure_spread
from egoequiv.planning.trips import Plan as Plan
