"""The commands, used as a user would."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.method_names import list_methods
from running import Cli

SMALL_WORLD = [
    "--workers=1",
    "--set=toys_per_category=1",
    "--set=elevations=5",
    "--set=azimuths=12",
    "--set=lightings=3",
    "--set=size=32",
]
EQUIV = ["train", "TOYS", "-o", "OUT", "--method", "equiv"]
SHORT = ["--iterations", "100", "--set", "log_every=50", "--set", "checkpoint_every=50", "--set", "validate_every=50"]


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from egoequiv.catalog import open_source
    from egoequiv.store import ingest

    source = open_source("turntable", toys_per_category="1", elevations="7", azimuths="18", lightings="4", size="32")
    return ingest(source, tmp_path_factory.mktemp("world") / "toys", size=(16, 16), workers=1).path


@pytest.mark.slow
def test_ingest_and_info(cli: Cli, tmp_path: Path) -> None:
    made = cli("ingest", "turntable", "-o", tmp_path / "toys", "--size", "16x24", *SMALL_WORLD, "--json")
    assert json.loads(made.out) == {
        "store": str(tmp_path / "toys"),
        "frames": 900,
        "recordings": 15,
        "notes": [],
        "remarks": [],
    }
    shown = cli("info", tmp_path / "toys", "--json")
    described = json.loads(shown.out)
    assert described["image_shape"] == [16, 24, 1]
    assert described["poses"] == {"elevation_deg": [30.0, 70.0], "azimuth_deg": [0.0, 330.0]}
    assert set(described["labels"].values()) == {180}
    assert described["motions"] == ["up", "down", "right", "left"]
    split = described["split"]
    assert (split["kind"], split["leaked_validation_frames"]) == ("by-recording", 0)
    assert split["train_frames"] + split["validation_frames"] == 900
    with Image.open(described["contact_sheet"]) as sheet:
        assert sheet.width > 100
    assert "900 of 16 x 24 x 1" in cli("info", tmp_path / "toys", "--sheet", tmp_path / "sheet.png").out
    assert (tmp_path / "sheet.png").exists()


@pytest.mark.slow
def test_train_evaluate_embed(cli: Cli, toys: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained = cli("train", toys, "--method", "equiv", "--encoder", "norb", "-o", run, *SHORT, "--json")
    assert json.loads(trained.out)["iterations"] == 100
    assert (run / "curves.png").exists()
    measured = json.loads(cli("evaluate", run, "--json").out)["measurements"]
    names = {value["metric"]["name"] for one in measured for value in one["values"]}
    assert {"top1", "rho_atomic", "rho_composite", "rho_up", "rho_right", "rho_up+left"} <= names
    assert "rho atomic" in cli("evaluate", run, "--checkpoint", "best").out
    (everything,) = json.loads(cli("evaluate", run, toys, "--json").out)["measurements"]
    assert everything["details"]["motions"][0]["pairs_scored"] > 300
    cli("embed", run, toys, "-o", tmp_path / "z.npy")
    assert np.load(tmp_path / "z.npy").shape == (2520, 100)
    again = cli("train", "-o", run, "--resume", "--json")
    assert f"go on with it by: egoequiv train -o {run} --resume" in cli("train", run, "--resume", "-o", run, code=2).err
    assert json.loads(again.out)["iterations"] == 100
    assert f"{run} was finished already: nothing was trained; to train longer, begin another run" in again.err


def test_train_with_tensorboard(cli: Cli, toys: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="the extra `tensorboard` is not installed")
    cli("train", toys, "--method", "drlim", "--no-labels", "-o", tmp_path / "run", "--tensorboard", *SHORT)
    assert list((tmp_path / "run" / "tensorboard").iterdir())


def test_search(cli: Cli, toys: Path, tmp_path: Path) -> None:
    arguments = ["search", toys, "-o", tmp_path / "search", "--methods", "drlim,equiv+drlim", "--iterations", "50"]
    arguments += ["--rates", "1e9,0.01", "--weights", "0.1,1", "--set", "log_every=50", "--set", "checkpoint_every=50"]
    found = json.loads(cli(*arguments, "--workers", "1", "--json").out)
    assert found["learning_rate"] == 0.01
    assert found["trials"][0]["score"] is None
    assert found["trials"][0]["diverged_at"] >= 1
    assert found["weight"]["equiv+drlim"]["slowness"] == found["weight"]["drlim"]["slowness"]
    assert "diverged at" in cli(*arguments, "--workers", "1").out


def test_methods(cli: Cli) -> None:
    assert list(json.loads(cli("methods", "--json").out)) == list_methods()
    shown = cli("methods").out
    assert "(invariant)" in shown
    assert "temperature" not in shown
    own = cli("methods", "sie").out
    assert "equivariance.motion-variance=4.5" in own
    assert "motion_maps=network" in own
    assert max(map(len, [*shown.splitlines(), *own.splitlines()])) <= 80
    assert json.loads(cli("methods", "sie", "--json").out)["sie"]["numbers"]["weight.invariance"] == 0.1


def test_version(cli: Cli) -> None:
    assert cli("--version").out.startswith("egoequiv ")


def test_a_label_store_of_another_size_is_named(cli: Cli, toys: Path, tmp_path: Path) -> None:
    cli("ingest", "turntable", "-o", tmp_path / "large", "--size", "20", *SMALL_WORLD)
    failed = cli("train", toys, "--labels", tmp_path / "large", "-o", tmp_path / "run", *SHORT, code=2)
    assert "20 x 20 x 1" in failed.err
    assert "--size 16x16" in failed.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ingest", "nord", "-o", "OUT"], "source 'nord' is not known; choose one of norb, kitti"),
        (["ingest", "norb", "-o", "OUT"], "reads files"),
        (["ingest", "norb", "NOWHERE", "-o", "OUT"], "NOWHERE is not a folder"),
        (["ingest", "turntable", "NOWHERE", "-o", "OUT"], "reads no files"),
        (["ingest", "turntable", "-o", "OUT", "--size", "big"], "size 'big'"),
        (["ingest", "turntable", "-o", "OUT", "--size", "0"], "size '0'"),
        (["ingest", "turntable", "-o", "OUT", "--set", "toys=3"], "has no setting 'toys'"),
        (["ingest", "turntable", "-o", "OUT", "--set", "lightings=many"], "lightings='many'"),
        (["ingest", "turntable", "-o", "OUT", "--set", "lightings"], "key=value"),
        (["ingest", "turntable", "-o", "FILE/store", "--set", "toys_per_category=1"], "FILE"),
        (["info", "NOWHERE"], "NOWHERE does not exist"),
        (["info", "FILE"], "is a file"),
        (["train", "NOWHERE", "-o", "OUT"], "NOWHERE does not exist"),
        (["train", "-o", "OUT"], "give the store"),
        (["train", "TOYS", "-o", "OUT", "--method", "magic"], "method 'magic' is not known"),
        ([*EQUIV, "--per-class", "5000"], "per_class needs 5000"),
        (["train", "TOYS", "-o", "OUT", "--set", "motions=sideways"], "'sideways' is not known here"),
        (["train", "TOYS", "-o", "OUT", "--set", "split=by-colour"], "its attributes are: category, instance, toy"),
        (["train", "TOYS", "-o", "OUT", "--set", "encoder=huge"], "encoder 'huge' is not known"),
        (["train", "TOYS", "-o", "OUT", "--device", "abacus"], "device 'abacus'"),
        (["train", "TOYS", "-o", "FILE/run"], "FILE"),
        (["train", "TOYS", "-o", "OUT", "--set", "weight=1", "--set", "weight.slowness=1"], "given both as"),
        (["train", "TOYS", "-o", "OUT", "--set", "seed=99999999999999999999999"], "seed="),
        (["train", "TOYS", "-o", "OUT", "--method", "drlim", "--set", "neighbour_pairs=1"], "neighbour_pairs="),
        ([*EQUIV, "--set", "train_fraction=0.9995", "--set", "split=paper"], "train_fraction"),
        (["train", "TOYS", "-o", "OUT", "--device", "meta"], "device 'meta'"),
        (["train", "TOYS", "-o", "OUT", "--set", "motions=up+right,right+up"], "the same as"),
        (["train", "TOYS", "-o", "OUT", "--set", "threads=9999999"], "threads="),
        (["ingest", "turntable", "-o", "OUT", "--size", "\u00b2"], "size"),
        (["ingest", "turntable", "-o", "OUT", "--size", "999999999999999999999"], "size"),
        (["ingest", "turntable", "-o", "FILE", "--overwrite"], "is a file"),
        (["search", "TOYS", "-o", "OUT", "--set", "use_labels=false"], "needs labels"),
        (
            ["train", "TOYS", "-o", "OUT", "--method", "equiv", "--set", "learning_rate=1e9", "--set", "log_every=10"],
            "at iteration",
        ),
        (["evaluate", "NOWHERE"], "NOWHERE"),
        (["evaluate", "TOYS"], "config.json is missing"),
        (["embed", "TOYS", "TOYS"], "is a store, not a run (made by"),
        (["embed", "TOYS", "TOYS", "-o", "OUT"], "features are written as .parquet or .npy"),
        (["embed", "NOWHERE", "TOYS"], "NOWHERE does not exist"),
        (["search", "NOWHERE", "-o", "OUT"], "NOWHERE does not exist"),
        (["search", "TOYS", "-o", "OUT", "--methods", "a,b"], "method 'a' is not known"),
        (["search", "TOYS", "-o", "OUT", "--rates", "fast"], "fast"),
        (["reproduce", "norb", "--data", "NOWHERE", "-o", "OUT"], "NOWHERE is not a folder"),
        (["reproduce", "norb", "--methods", "a", "-o", "OUT"], "method 'a' is not known"),
        (["reproduce", "doctor", "--faults", "typo", "-o", "OUT"], "no fault has a name like this"),
        (["reproduce", "doctor", "--data", "NOWHERE", "-o", "OUT"], "NOWHERE"),
        (["reproduce", "visual", "--data", "NOWHERE", "-o", "OUT"], "NOWHERE"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], words: str, cli: Cli, toys: Path, tmp_path: Path
) -> None:
    (tmp_path / "FILE").write_text("a file")
    places = {"TOYS": str(toys), **{name: str(tmp_path / name) for name in ("OUT", "NOWHERE", "FILE")}}
    given = [str(places.get(a, a)).replace("FILE/", f"{tmp_path}/FILE/") for a in arguments]
    failed = cli(*given, code=2)
    assert words in " ".join(failed.err.split())
    assert "Traceback" not in failed.err
    lines = [line for line in failed.err.splitlines() if line.startswith("egoequiv: error:")]
    assert len(lines) == 1 or "Usage:" in failed.err
    assert not (tmp_path / "OUT" / "store.json").exists()
    assert not (tmp_path / "OUT" / "result.json").exists()
    assert not list(tmp_path.glob(".*partial*"))
