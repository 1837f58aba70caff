"""The cases with logs: every format, damaged in ways of files and in ways of logs, inspected and ingested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz.cases import Arguments, Case, Target, out_name
from fuzz.inputs import Inputs
from fuzz.log_check import is_tellable, wrong_poses
from fuzz.log_mutations import damage_table, impostor
from fuzz.logs import LOGS, Log
from fuzz.mutations import damage


def _damage(log: Log) -> Callable[[Random, Path, Path], str]:
    def choose(rng: Random, root: Path, mark: Path) -> str:
        kind = rng.random()
        if (log.tables or log.ordered) and kind < 0.5:
            return damage_table(rng, log, root, mark)
        return impostor(rng, root, mark) if kind < 0.6 else damage(rng, root, mark)

    return choose


def _build(log: Log) -> Callable[[Random, Path, Inputs], Arguments]:
    def build(rng: Random, place: Path, _: Inputs) -> Arguments:
        path = str(place / log.file)
        kind = rng.random()
        if kind < 0.3:
            return ["inspect", path, *rng.choice([[], ["--json"], ["--source", log.source]])]
        options = ["-o", out_name(rng), "--workers", "1"]
        return ["ingest", *([log.source] if kind < 0.8 else []), path, *options, *(["--strict"] if kind > 0.95 else [])]

    return build


def _check(log: Log) -> Callable[[Case, Path, Inputs], str]:
    def check(case: Case, out: Path, inputs: Inputs) -> str:
        stores = [path.parent for path in out.glob("*/store.json")]
        if not stores or not is_tellable(case.damaged):
            return ""
        return wrong_poses(stores[0], inputs[f"{log.name}_store"], case.damaged, log.most)

    return check


LOG_TARGETS = [
    Target(
        f"log-{log.name}",
        f"log_{log.name}",
        _build(log),
        weight=6,
        needs=(f"{log.name}_store",),
        damage=_damage(log),
        check=_check(log),
    )
    for log in LOGS
]
