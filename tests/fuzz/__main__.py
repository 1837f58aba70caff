"""`python -m fuzz` (with tests/ on the path): run the campaign, print what failed and how to replay it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="Damaged inputs and odd options, from one seed.")
    parser.add_argument("--cases", type=int, default=10_000, help="how many cases (10,000)")
    parser.add_argument("--seconds", type=float, default=1_800.0, help="stop after this time (1,800)")
    parser.add_argument("--seed", type=int, default=0, help="which cases (0)")
    parser.add_argument("--case", type=int, metavar="N", help="replay case N alone, and keep its folder")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with case N")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="targets whose names contain one of these words"
    )
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="targets to leave out")
    parser.add_argument("--lanes", type=int, default=0, help="cases at a time; by default one for each core")
    parser.add_argument("--out", type=Path, metavar="FILE", help="all failures as lines of JSON")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="where inputs and cases go; by default thrown away")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 1 if anything failed."""
    options = parse_arguments(arguments)
    with TemporaryDirectory(prefix="egoequiv-fuzz-") as temporary:
        return _run(options, options.home or Path(temporary))


def _run(options: argparse.Namespace, home: Path) -> int:
    from fuzz.campaign import Campaign, summary
    from fuzz.targets import TARGETS

    targets = [
        one
        for one in TARGETS
        if (not options.only or any(word in one.name for word in options.only)) and one.name not in options.without
    ]
    campaign = Campaign(home.absolute(), options.seed, options.first, options.cases, options.seconds, targets=targets)
    if options.lanes:
        campaign.lanes = options.lanes
    if options.case is not None:
        campaign.first, campaign.cases, campaign.lanes, campaign.keep = options.case, 1, 1, True
    outcomes = []
    begun = time.monotonic()
    for outcome in campaign.run():
        outcomes.append(outcome)
        if outcome.failure or options.case is not None:
            print(f"case {outcome.number} ({outcome.target}): {outcome.failure or 'fine'}, exit {outcome.code}")
            print(f"  damaged: {'; '.join(outcome.damaged) or 'nothing'}".encode("utf-8", "replace").decode())
            print(f"  egoequiv {shlex.join(outcome.arguments)}"[:500].encode("utf-8", "replace").decode())
            print("  " + "\n  ".join(outcome.said.strip().splitlines()[-40 if options.case is not None else -2 :]))
            sys.stdout.flush()
        if len(outcomes) % 500 == 0:
            print(f"{len(outcomes)} cases in {time.monotonic() - begun:.0f} s", flush=True)
    print(summary(outcomes))
    failures = [one for one in outcomes if one.failure]
    if options.out:
        options.out.write_text("".join(json.dumps(one.__dict__) + "\n" for one in failures))
    if failures:
        only = f" --only {' '.join(options.only)}" if options.only else ""
        print(
            f"replay one with: make fuzz FUZZ='--seed {options.seed}{only} --case {failures[0].number} --home FOLDER'"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
