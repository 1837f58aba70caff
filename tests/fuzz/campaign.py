"""The campaign: many cases on all cores, within a time, and what came of them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.cases import Target
from fuzz.inputs import Inputs
from fuzz.running import Outcome, import_everything, is_kept, outcome_line, read_outcome, run_case, snapshot
from fuzz.targets import TARGETS


@dataclass
class Campaign:
    """Cases `first` to `first + cases - 1` of a seed, until the seconds are over."""

    home: Path
    seed: int = 0
    first: int = 0
    cases: int = 1000
    seconds: float = 900.0
    lanes: int = field(default_factory=lambda: os.cpu_count() or 1)
    targets: Sequence[Target] = tuple(TARGETS)
    keep: bool = False

    def run(self) -> Iterator[Outcome]:
        """Run all cases, and give each outcome as it comes."""
        import_everything()
        inputs = Inputs(self.home / "inputs")
        needed = {name for one in self.targets for name in (one.input, *one.needs) if name}
        _in_a_child(lambda: [inputs[name] for name in sorted(needed)])
        before = snapshot(inputs.home)
        deadline = time.monotonic() + self.seconds
        reader, writer = os.pipe()
        lanes = [_fork(lambda lane=lane: self._lane(lane, inputs, writer, deadline)) for lane in range(self.lanes)]
        os.close(writer)
        with open(reader, "rb") as lines:
            for line in lines:
                yield read_outcome(line)
        for lane in lanes:
            if os.waitstatus_to_exitcode(os.waitpid(lane, 0)[1]):
                raise RuntimeError("a process of the campaign itself has failed")
        after = snapshot(inputs.home)
        changed = [name for name in before if after.get(name) != before[name] and is_kept(name)]
        if changed:
            raise RuntimeError(f"a case has changed {changed[:3]}, which it only was to read, below {inputs.home}")

    def _lane(self, lane: int, inputs: Inputs, writer: int, deadline: float) -> None:
        for number in range(self.first + lane, self.first + self.cases, self.lanes):
            if time.monotonic() > deadline:
                return
            outcome = run_case(self.seed, number, list(self.targets), inputs, self.home / "cases", self.keep)
            os.write(writer, outcome_line(outcome))


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many cases of which target ended how, and the failures with what replays them."""
    lines = []
    for name in dict.fromkeys(one.name for one in TARGETS):
        own = [one for one in outcomes if one.target == name]
        if own:
            codes = Counter(one.code for one in own)
            failed = sum(bool(one.failure) for one in own)
            ends = ", ".join(f"exit {code}: {count}" for code, count in sorted(codes.items()))
            mean_s = sum(one.seconds for one in own) / len(own)
            lines.append(f"{name:16} {len(own):6} cases   {failed:4} failures   {mean_s:6.2f} s each   ({ends})")
    failures = [one for one in outcomes if one.failure]
    lines.append(f"{len(outcomes)} cases, {len(failures)} failures")
    return "\n".join(lines)


def _in_a_child(work: object) -> None:
    child = _fork(work)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise RuntimeError("the inputs could not be made")


def _fork(work: object) -> int:
    """Do something in a forked process."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        work()  # type: ignore[operator]
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
