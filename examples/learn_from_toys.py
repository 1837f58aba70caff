"""From a rendered turntable to features and their equivariance error, in a few lines.

Usage: python examples/learn_from_toys.py [FOLDER]
"""

import sys
from pathlib import Path

import egoequiv


def main(folder: Path) -> None:
    """Render, train and measure."""
    world = egoequiv.open_source("turntable", toys_per_category=2, lightings=2)
    store = egoequiv.ingest(world, folder / "toys", size=(32, 32))
    run = egoequiv.train(data=store.path, out=folder / "run", method="equiv", use_labels=False, iterations=500)
    features = egoequiv.embed(run.path, store)
    print("features:", features.shape)
    split = egoequiv.make_split(store)
    for error in egoequiv.measure_equivariance(run.model(), store, split.validation, ["up", "right", "up+right"]):
        low, high = error.interval
        print(f"{error.motion:10} rho {error.rho:.3f} ({low:.3f} to {high:.3f}), {error.pairs_scored} pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "learned"))
