"""Every motion space by name, and a space from its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.additive import ColumnsSpace, NoMotion, PlanarSpace
from egoequiv.pose.grid import Axis, GridSpace
from egoequiv.pose.rigid import SE2Space, SE3Space
from egoequiv.pose.scale_free import ScaleFreeSpace
from egoequiv.pose.space import MotionSpace

SPACES: dict[str, Callable[[], MotionSpace]] = {
    "planar": PlanarSpace,
    "se2": SE2Space,
    "se3": SE3Space,
    "scale-free": ScaleFreeSpace,
    "none": NoMotion,
}


def space_named(name: str) -> MotionSpace:
    """A space by name: planar, se2, se3, scale-free, or `columns:steering,throttle` for raw sensor columns."""
    if name.startswith("columns:"):
        return ColumnsSpace(tuple(column.strip() for column in name.removeprefix("columns:").split(",")))
    if name not in SPACES:
        raise ConfigError(f"motion space {name!r} is not known; choose {', '.join(SPACES)} or columns:NAME,NAME")
    return SPACES[name]()


def space_from_description(description: Any) -> MotionSpace:
    """Build the space that `MotionSpace.describe` described."""
    from egoequiv.signatures import of_type  # here, because `--help` does without pydantic

    kind = description.get("kind") if isinstance(description, dict) else None
    try:
        if kind == "grid":
            return GridSpace(of_type(tuple[Axis, ...], description.get("axes")))
        if kind == "columns":
            periods = of_type(tuple[float, ...], description.get("periods", ()))
            return ColumnsSpace(of_type(tuple[str, ...], description.get("columns")), periods)
    except DataError as problem:
        raise DataError(f"the description of a {kind} motion space is damaged: {problem}") from problem
    if not isinstance(kind, str) or kind not in SPACES:
        raise DataError(f"motion space of kind {kind!r} is not known; expected grid, columns, {', '.join(SPACES)}")
    return SPACES[kind]()
