"""Engines do many tasks in parallel: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable

from egoequiv.engines.cluster import RayEngine
from egoequiv.engines.engine import Engine, Tick, WorkerLostError
from egoequiv.engines.local import LocalEngine
from egoequiv.errors import ConfigError

# Each takes the number of processes and the address of a cluster; with None, the engine chooses.
ENGINES: dict[str, Callable[[int | None, str | None], Engine]] = {
    "local": lambda processes, _: LocalEngine(processes),
    "ray": RayEngine,
}


def engine_named(name: str, processes: int | None = None, address: str | None = None) -> Engine:
    """The engine of a name; by default with as many processes as there are cores."""
    if name not in ENGINES:
        raise ConfigError(f"engine {name!r} is not known; choose one of {', '.join(ENGINES)}")
    if address is not None and name != "ray":
        raise ConfigError(f"engine {name!r} has no address ({address}); a cluster is reached with the engine ray")
    return ENGINES[name](processes, address)


__all__ = ["ENGINES", "Engine", "LocalEngine", "RayEngine", "Tick", "WorkerLostError", "engine_named"]
