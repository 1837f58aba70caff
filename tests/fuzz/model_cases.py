"""The cases of trained runs and what is made of them: exports, the service, data sets with features, plan, places."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.cases import STOP_S, Arguments, Target, out_name
from fuzz.inputs import Inputs

SERVED = ["--port", "0"]  # any free one


def _exported_run(rng: Random, place: Path, _: Inputs) -> Arguments:
    return ["export", str(place), "-o", out_name(rng), *rng.choice([[], ["--checkpoint", "best"], ["--json"]])]


def _export(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    name, store = str(place), str(inputs["store"])
    runtime = rng.choice([[], ["--runtime", "torch"], ["--runtime", "onnx"]])
    return rng.choice([
        ["serve", name, *SERVED, *runtime],
        ["serve", name, *SERVED, *runtime, "--store", store],
        ["embed", name, store, "-o", f"{out_name(rng)}.parquet"],
        ["audit", name, "--store", store, "--no-baselines", "--limit", "40"],
        ["audit", str(place / "encoder.onnx"), "--store", store, "--no-baselines", "--limit", "40"],
    ])  # fmt: skip


def _served_run(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    store = rng.choice([[], ["--store", str(inputs["store"])]])
    return ["serve", str(place), *SERVED, *store, *rng.choice([[], ["--checkpoint", "best"], ["--runtime", "onnx"]])]


def _served_store(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    return ["serve", str(inputs[rng.choice(["run", "export"])]), *SERVED, "--store", str(place)]


def _append(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    column = rng.choice([[], ["--column", rng.choice(["observation.state", "x", "", "a/b"])], ["--skip-broken"]])
    return ["embed", str(inputs["run"]), "--append-to", str(place), "-o", out_name(rng), *column]


def _doctor(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    more = rng.choice([[], [], ["--json"], ["--fov", "60"], ["--run", str(inputs["drive_run"])]])
    return ["doctor", str(place), "-o", f"{out_name(rng)}.html", "--workers", "1", *more]


def _places(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    tolerance = rng.choice([[], ["--tolerance", "2"], ["--tolerance", "5m"]])
    traverses = rng.choice([["--reference", "drive-0", "--query", "drive-1"], ["--revisit", "1"]])
    return _evaluate_places(rng, inputs, [str(place), *traverses, *tolerance])


def _places_log(rng: Random, place: Path, inputs: Inputs) -> Arguments:
    whole = str(inputs["tum_store"])
    reference, query = rng.choice([(whole, str(place)), (str(place), whole), (str(place), str(place))])
    return _evaluate_places(rng, inputs, [str(inputs["drive_store"]), "--reference", reference, "--query", query])


def _evaluate_places(rng: Random, inputs: Inputs, traverses: Arguments) -> Arguments:
    return ["evaluate", str(inputs["drive_run"]), *traverses, "--task", "places", "-o", out_name(rng)]


def _plan(rng: Random, place: Path, _: Inputs) -> Arguments:
    return ["evaluate", str(place), "--task", "plan", *rng.choice([[], ["--json"], ["-o", out_name(rng)]])]


MODEL_TARGETS = [
    Target("export-run", "run", _exported_run, "more", weight=2),  # one whole export takes seconds
    Target("export", "export", _export, needs=("store",), until_s=STOP_S),
    Target("serve-run", "run", _served_run, "more", needs=("store",), until_s=STOP_S),
    Target("serve-store", "store", _served_store, needs=("run", "export"), until_s=STOP_S),
    *(
        Target(f"append-{kind}", f"log_{kind}", _append, weight=4, needs=("run",))
        for kind in ("lerobot-2", "lerobot-3")
    ),
    Target("doctor-log", "log_tum", _doctor, weight=5, needs=("drive_run",)),
    Target("doctor-store", "drive_store", _doctor, weight=5, needs=("drive_run",)),
    Target("places", "drive_store", _places, weight=5, needs=("drive_run",)),
    Target("places-log", "log_tum", _places_log, weight=5, needs=("drive_run", "drive_store", "tum_store")),
    Target("plan", "run", _plan, "more", weight=6),
]
