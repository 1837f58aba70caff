"""The checkpoints of stacks: where they are, and which of them are of use to jobs that are left."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.models.checkpoint import load_meta
from egoequiv.training.jobs import Job
from egoequiv.training.run_folder import FREE_TO_CHANGE


def stack_file(jobs: Sequence[Job]) -> Path:
    """Where a stack of these jobs keeps its checkpoint: beside the folders of its runs."""
    free = set(FREE_TO_CHANGE)
    whole = json.dumps([[job.out.name, job.config.model_dump(mode="json", exclude=free)] for job in in_order(jobs)])
    return jobs[0].out.parent / f".stack-{sha256(whole.encode()).hexdigest()[:16]}.safetensors"


def left_stacks(jobs: Sequence[Job], left: Collection[Job]) -> list[list[Job]]:
    """The stacks of such jobs that were begun and not finished, from the checkpoints they left.

    `left` are the jobs still to do. Where two checkpoints share a job, the further one goes on. Checkpoints that are of
    no use any more are removed: of jobs that are all done, or overtaken by another.
    """
    found: list[list[Job]] = []
    taken: set[Path] = set()
    for iteration, path, names in sorted(_checkpoints(jobs), key=lambda one: (-one[0], one[1])):
        by_name = {job.out.name: job for job in jobs if job.out.parent == path.parent}
        stack = [by_name[name] for name in names if name in by_name]
        if not stack or len(stack) < len(names) or stack_file(stack) != path:
            continue  # of other jobs or other settings
        undone = [job for job in stack if job in left]
        is_being_finished = iteration == stack[0].config.iterations
        overtaken = any(job.out in taken for job in stack) or (len(undone) < len(stack) and not is_being_finished)
        if not undone or overtaken:
            path.unlink()
            continue
        found.append(stack)
        taken |= {job.out for job in stack}
    return found


def _checkpoints(jobs: Sequence[Job]) -> Iterator[tuple[int, Path, list[str]]]:
    """Iteration, file and names of the members of all stack checkpoints beside the folders of jobs."""
    for folder in dict.fromkeys(job.out.parent for job in jobs):
        for path in folder.glob(".stack-*.safetensors"):
            meta = load_meta(path)
            try:
                yield int(meta["iteration"]), path, [str(member["name"]) for member in meta["members"]]
            except (KeyError, TypeError, ValueError) as problem:
                raise DataError(f"{path} is not the checkpoint of a stack ({problem!r}): remove it") from problem


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """The jobs of a stack in order of their learning rates."""
    return sorted(jobs, key=lambda job: (job.config.learning_rate, job.out.name))
