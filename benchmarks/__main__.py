"""`python -m benchmarks`: run the comparisons, print a table and write benchmarks/latest.json.

Worker processes import this module, so what takes long to import is imported where it is used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

LATEST = Path(__file__).parent / "latest.json"


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed, as ratios measured side by side.")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="those whose names hold one of these")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with the figures of an earlier run")
    parser.add_argument("--quick", action="store_true", help="small and short: to see it work, not to be believed")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the figures go (latest.json, unless --quick)")
    parser.add_argument("--list", action="store_true", help="list the names and do nothing")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the requested benchmarks and report."""
    options = parse_arguments(arguments)
    from benchmarks.figures import change_table, load_figures, load_machine, save_figures, table
    from benchmarks.measuring import describe_machine
    from benchmarks.suite import SUITE, chosen, run_suite
    from benchmarks.workbench import QUICK, Scale, Workbench
    from egoequiv.errors import EgoEquivError

    unknown = [word for word in options.only if not chosen([word])]
    if unknown:
        names = ", ".join(one.name for one in SUITE)
        fail(f"no benchmark has a name with {unknown[0]!r}; choose from {names}")
    benchmarks = chosen(options.only)
    if options.list:
        print("\n".join(one.name for one in benchmarks))
        return
    out = options.out or (None if options.quick else LATEST)
    try:  # first: the file may be the one that is about to be written
        earlier = load_figures(options.against) if options.against else []
        their_machine = load_machine(options.against) if options.against else {}
    except EgoEquivError as problem:
        fail(str(problem))
    machine = describe_machine()
    print(", ".join(f"{key} {value}" for key, value in machine.items()), flush=True)
    figures = []
    with TemporaryDirectory(prefix="egoequiv-benchmarks-") as name:
        for figure in run_suite(Workbench(Path(name), QUICK if options.quick else Scale()), benchmarks):
            print(f"{figure.name}: {figure.ratio:.3f} +- {figure.spread:.3f}  {figure.beside}", flush=True)
            figures.append(figure)
            if out is not None:
                save_figures(figures, machine, out)  # at once: what is measured is kept if a later one fails
    print(f"\n{table(figures)}\n{f'written to {out}' if out else 'not written: quick figures are not to be believed'}")
    if options.against:
        print(f"\nagainst {options.against}:\n{change_table(earlier, figures)}")
        for key in sorted(key for key in machine if key != "load" and their_machine.get(key) != machine[key]):
            print(f"measured on another machine: {key} was {their_machine.get(key)}, is {machine[key]}")


def fail(reason: str) -> NoReturn:
    """End with one line that says what is wrong."""
    print(f"benchmarks: error: {reason}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
