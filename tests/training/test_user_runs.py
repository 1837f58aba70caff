"""Runs with encoders and losses of users: trained, resumed to the same bytes, stacked, and found again later."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation import embed
from egoequiv.models import load_model
from egoequiv.models.checkpoint import load_tensors
from egoequiv.store import FrameStore
from egoequiv.training import make_config, run_training, train
from egoequiv.training.jobs import Job
from egoequiv.training.many import plan, run_many, stacking_notes
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.stacked_runs import run_stack, stack_key

CODE = '''
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from egoequiv.losses import Term


class Net(nn.Module):
    """Layers that draw random numbers, keep statistics, and wait for an image to learn their shape."""

    def __init__(self, image_shape, width: int = 3):
        super().__init__()
        self.conv = nn.Conv2d(image_shape[2], width, 3)
        self.norm = nn.BatchNorm2d(width)
        self.drop = nn.Dropout(0.2)
        self.shift = nn.Parameter(torch.randn(width, 1, 1))
        self.features = nn.LazyLinear(5)

    def forward(self, images):
        return self.features(self.drop(self.norm(self.conv(images)).relu() + self.shift).flatten(1))


@dataclass(frozen=True)
class Gap(Term):
    """The distance of the images of a pair comes near to a margin; maps are used too."""

    name: ClassVar[str] = "gap"
    stream: ClassVar[str] = "motion"
    margin: float = 1.0

    def loss(self, net, batch):
        mapped = net.maps(batch.z_j).mean(-2)
        return ((mapped - batch.z_i).norm(dim=-1) - self.margin).square().mean(-1)


class AtOnce(Gap):
    name = "at-once"
    stacks = True


class Mistaken(Gap):
    name = "mistaken"
    stacks = True

    def loss(self, net, batch):
        return batch.z_i.sum(dim=1).mean(-1)  # of a stack, over the batch and not over the features


class Exchanged(AtOnce):
    name = "exchanged"

    def loss(self, net, batch):
        loss = super().loss(net, batch)
        return loss.flip(0) if loss.dim() else loss  # each network of a stack gets the loss of another


class Averaged(AtOnce):
    name = "averaged"

    def loss(self, net, batch):
        loss = super().loss(net, batch)
        return loss.mean().expand_as(loss)


class Scalar(Mistaken):
    name = "scalar"

    def loss(self, net, batch):
        return batch.z_i.mean()


class Drawn(Gap):
    name = "drawn"

    def loss(self, net, batch):
        chosen = torch.randperm(len(batch.z_i))
        return (batch.z_i - batch.z_j[chosen]).square().mean()


class Declared(Drawn):
    name = "declared"
    draws = True


class Broken(Gap):
    name = "broken"

    def loss(self, net, batch):
        return batch.z_i @ batch.z_j


class Wide(Gap):
    name = "wide"

    def loss(self, net, batch):
        return batch.z_i.square().mean(-1)


class Number(Gap):
    name = "number"

    def loss(self, net, batch):
        return 3.0


class Detached(Gap):
    name = "detached"

    def loss(self, net, batch):
        return batch.z_i.detach().square().mean()


class Rewritten(Gap):
    name = "rewritten"

    def loss(self, net, batch):
        z = batch.z_i.exp()
        loss = z.square().mean()
        z.zero_()
        return loss


class Few(Net):
    """Works for a few images."""

    def forward(self, images):
        return super().forward(images)[:7]


class Views(Net):
    def forward(self, images):
        return super().forward(images).view(2, -1)[:, :5] if self.training else super().forward(images)


class Resting(Net):
    """Fails when many images are looked at after training."""

    def forward(self, images):
        if not self.training and len(images) > 2:
            raise ValueError("not\\nnow")
        return super().forward(images)


class NotFinite(Net):
    def forward(self, images):
        return super().forward(images) * float("nan")


class Frozen(Net):
    def forward(self, images):
        with torch.no_grad():
            return super().forward(images)


class Pixels(nn.Flatten):
    def __init__(self, image_shape):
        super().__init__()
'''
SHORT = {"encoder": "norb", "iterations": 16, "per_class": 3, "log_every": 4, "checkpoint_every": 4}
SHORT |= {"validate_every": 8, "threads": 1}
SHORT |= {"batch_size": 8, "neighbour_pairs": 100}
FILES = ("last.safetensors", "best.safetensors", "metrics.jsonl", "model.json", "result.json", "config.json")


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a user, in the current folder."""
    (tmp_path / "mine.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mine.py"


def settings(**changes: Any) -> dict[str, Any]:
    return {**SHORT, "encoder": "mine.py:Net", "encoder_settings": {"width": "4"}, "method": "mine.py:Gap", **changes}


def interrupt(metrics: dict[str, float]) -> None:
    if metrics["iteration"] == 12:
        raise KeyboardInterrupt


def test_the_names_and_settings_are_kept(code: Path, small_store: FrameStore) -> None:
    run = train(small_store.path, "run", **settings(margin={"gap": 0.3})).path
    config, model = (json.loads((run / name).read_text()) for name in ("config.json", "model.json"))
    assert (config["method"], config["encoder"]) == (f"{code}:Gap", f"{code}:Net")
    assert config["encoder_settings"] == model["encoder_settings"] == {"width": 4}
    assert model["encoder"] == f"{code}:Net"
    assert RunFolder(run).config().objective().terms[1].margin == 0.3  # type: ignore[attr-defined]
    assert load_tensors(run / "last.safetensors")[0]["model.encoder.conv.weight"].shape == (4, 1, 3, 3)


def test_a_stopped_run_goes_on_to_the_same_bytes(code: Path, small_store: FrameStore) -> None:
    torch.manual_seed(7)
    whole = train(small_store.path, "whole", **settings()).path
    torch.manual_seed(8)  # what was drawn before does not matter
    with pytest.raises(KeyboardInterrupt):
        train(small_store.path, "cut", on_metrics=interrupt, **settings())
    torch.manual_seed(9)
    cut = train(small_store.path, "cut", resume=True, **settings()).path
    for name in FILES:
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name
    other = train(small_store.path, "other", **settings(seed=1)).path
    a, b = (load_tensors(run / "last.safetensors")[0] for run in (whole, other))
    assert not torch.equal(a["model.encoder.shift"], b["model.encoder.shift"])


def test_validation_leaves_no_trace_in_the_network(code: Path, small_store: FrameStore) -> None:
    often, once = (
        load_tensors(train(small_store.path, f"run-{n}", **settings(validate_every=n)).path / "last.safetensors")[0]
        for n in (4, 16)
    )
    assert int(often["model.encoder.norm.num_batches_tracked"]) == SHORT["iterations"]
    for name, tensor in often.items():
        assert torch.equal(tensor, once[name]), name


def test_validation_is_on_the_network_as_it_will_be_used(code: Path, small_store: FrameStore) -> None:
    run = train(small_store.path, "run", **settings())
    again = train(small_store.path, "again", **settings(), resume=True)
    assert again.result["metrics"] == run.result["metrics"]
    net = run.model()
    assert not net.training
    images = small_store.images[:40]
    np.testing.assert_array_equal(embed(net, images), embed(net, images))
    np.testing.assert_allclose(embed(net, images)[:3], embed(net, images[:3]), atol=1e-6)  # not statistics of a batch


@pytest.mark.slow
def test_a_run_is_found_later_from_another_shell(code: Path, small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, "run", **settings()).path.absolute()
    features = embed(run, small_store.path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lines = [["embed", run, small_store.path, "-o", "features.npy"], ["evaluate", run]]
    lines.append(["report", run, "--task", "slowness", "--workers", "1"])
    refused, taken = another_shell(elsewhere, lines, EGOEQUIV_CODE=str(code.parent))
    assert [one for one, _ in refused] == [2, 2, 2]
    assert f"names the encoder {code}:Net, which you did not name: " in refused[0][1]
    for _, said in refused:
        assert f"or set EGOEQUIV_CODE={code.parent}" in said.splitlines()[-1]
    assert [one for one, _ in taken] == [0, 0, 0]
    np.testing.assert_allclose(np.load(elsewhere / "features.npy"), features, atol=1e-6)
    code.rename(code.with_name("moved.py"))
    (((failed, said),),) = another_shell(code.parent, [["evaluate", run]])
    assert failed == 2
    assert f"{code} does not exist or is no file: check its name; a run needs it where it was trained" in said
    assert len(said.splitlines()) == 1


SHELL = """
import io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from egoequiv.cli.console import messages
from egoequiv.cli.main import main

lines, later = json.loads(sys.argv[1])
ends = []
for line in [*lines, *(lines if later else [])]:
    if len(ends) == len(lines):
        os.environ.update(later)
    sys.argv = ["egoequiv", *line]
    messages.file = io.StringIO()
    with redirect_stderr(messages.file), redirect_stdout(io.StringIO()):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    ends.append((code, messages.file.getvalue()))
print(json.dumps(ends))
"""


def another_shell(folder: Path, lines: list[list[Any]], **later: str) -> list[list[tuple[int, str]]]:
    """The exit code of each of these commands in a new process, where no code has been named, and what it said.

    With variables: all of them once more after these were set.
    """
    given = json.dumps([[[str(word) for word in line] for line in lines], later])
    command = [sys.executable, "-c", SHELL, given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    ends = [(code, said) for code, said in json.loads(done.stdout)]
    return [ends[at : at + len(lines)] for at in range(0, len(ends), len(lines))]


@pytest.mark.parametrize("key", ["method", "encoder"])
@pytest.mark.parametrize("place", ["{run}/mine.py", "mine.py", "run/mine.py"])
def test_a_run_cannot_bring_its_own_code(
    code: Path, small_store: FrameStore, monkeypatch: pytest.MonkeyPatch, key: str, place: str
) -> None:
    run = train(small_store.path, "run", **{**SHORT, "method": "random"}).path.absolute()
    (run / "mine.py").write_text("raise AssertionError('code of a run was run')")
    name = f"{place.format(run=run)}:{'Gap' if key == 'method' else 'Net'}"
    for file in ("config.json", "model.json") if key == "encoder" else ("config.json",):
        (run / file).write_text(json.dumps({**json.loads((run / file).read_text()), key: name}))
    for folder in (code.parent, run):
        monkeypatch.chdir(folder)
        with pytest.raises(ConfigError, match="no code is run from"):
            RunFolder(run).config()
        if key == "encoder":
            with pytest.raises(ConfigError, match="no code is run from"):
                load_model(run)


def test_a_run_with_a_missing_module_is_one_line(code: Path, small_store: FrameStore) -> None:
    run = train(small_store.path, "run", **{**SHORT, "method": "random"}).path
    (run / "config.json").write_text(
        json.dumps({**json.loads((run / "config.json").read_text()), "method": "not_installed.losses:Mine"})
    )
    with pytest.raises(ConfigError) as caught:
        RunFolder(run).config()
    assert "there is no module 'not_installed' on the Python path: install its package" in str(caught.value)
    assert str(run / "config.json") in str(caught.value)


def test_a_stack_computes_any_loss(code: Path, small_store: FrameStore) -> None:
    base = {"data": str(small_store.path), **SHORT, "encoder_settings": {"hidden_units": "7", "feature_dim": "9"}}
    for method in ("mine.py:Gap", "mine.py:AtOnce", "equiv+mine.py:Gap"):
        jobs = [Job(make_config({**base, "method": method, "seed": seed}), Path(f"s{seed}")) for seed in range(2)]
        assert len({stack_key(job.config) for job in jobs} - {None}) == 1
        jobs = [Job(job.config, Path(method.replace("/", "")) / job.out) for job in jobs]
        for job in jobs:
            job.out.parent.mkdir(exist_ok=True)
        assert all(outcome.result for outcome in run_stack(jobs, lambda count: None))
        for job in jobs:
            alone = run_training(job.config, job.out.with_name(f"alone-{job.out.name}")).path
            ours, theirs = (load_tensors(run / "last.safetensors")[0] for run in (job.out, alone))
            assert ours.keys() == theirs.keys()
            for name in ours:
                torch.testing.assert_close(ours[name], theirs[name], rtol=5e-3, atol=1e-4)
            lines = [RunFolder(run).metrics()[-1] for run in (job.out, alone)]
            assert lines[0] == pytest.approx(lines[1], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("Mistaken", "stacks, but gives"),
        ("Exchanged", "stacks, but gives"),
        ("Averaged", "stacks, but gives"),
        (
            "Scalar",
            r"must return a tensor \(2,\), one loss a network .*; it returns a tensor \(\)",
        ),
        ("Drawn", "draws random numbers, which a stack of networks cannot repeat: write draws = True"),
    ],
)
def test_what_a_stack_cannot_compute_is_one_line(code: Path, small_store: FrameStore, method: str, words: str) -> None:
    base = {"data": str(small_store.path), **SHORT, "method": f"mine.py:{method}"}
    jobs = [Job(make_config({**base, "seed": seed}), Path(f"{seed}")) for seed in range(2)]
    with pytest.raises(ConfigError, match=words):
        run_stack(jobs, lambda count: None)
    assert run_training(jobs[0].config, "alone").result["metrics"]  # one by one it can be trained


def test_a_loss_that_draws_is_trained_one_by_one(code: Path, small_store: FrameStore) -> None:
    base = {"data": str(small_store.path), **SHORT, "method": "mine.py:Declared"}
    jobs = [Job(make_config({**base, "seed": seed}), Path(f"{seed}")) for seed in range(2)]
    assert [stack_key(job.config) for job in jobs] == [None, None]
    assert sorted(len(task) for task in plan(jobs, jobs, 1)) == [1, 1]
    outcomes = run_many(jobs, engine=LocalEngine(1))
    again = run_training(jobs[1].config, "again")
    assert outcomes[1].result == again.result


def test_the_notes_name_the_loss(code: Path, small_store: FrameStore) -> None:
    def notes(**changes: Any) -> str:
        return " ".join(stacking_notes(make_config({"data": str(small_store.path), **SHORT, **changes})))

    assert "loss 'gap' is computed network by network" in notes(method="equiv+mine.py:Gap")
    assert "loss 'declared' draws random numbers, so the runs of Declared are" in notes(method="mine.py:Declared")
    assert notes(method="mine.py:AtOnce") == notes(method="equiv+drlim") == ""
    assert notes(method="mine.py:Gap", encoder="kitti") == ""


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("Broken", r"^loss 'broken': .*/mine\.py line \d+: RuntimeError: mat1 and mat2 shapes cannot be multiplied"),
        ("Wide", r"^loss 'wide' must return a scalar tensor, the mean over the batch; it returns a tensor \(8,\)$"),
        ("Number", r"^loss 'number' must return a scalar tensor, .* it returns a float$"),
        ("Detached", r"^loss 'detached' returns a tensor without a gradient: compute it from batch.z_i and batch.z_j"),
        ("Rewritten", r"^the gradient of method Rewritten with encoder norb: .*RuntimeError: .*inplace operation"),
    ],
)
def test_a_loss_that_goes_wrong_is_one_line(code: Path, small_store: FrameStore, method: str, words: str) -> None:
    with pytest.raises(EgoEquivError, match=words) as caught:
        train(small_store.path, "run", **{**SHORT, "method": f"mine.py:{method}"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        ("Few", r"mine.py:Few, in evaluation, on 72 images: expected float features \(B, 5\) .* float32 \(7, 5\)$"),
        ("Views", r"mine.py:Views, in training, on 16 images: expected .*; of 16 images it returns float32 \(2, 5\)"),
        ("Resting", r"mine.py:Resting, in evaluation, on \d+ images: .*mine\.py line \d+: ValueError: not now$"),
        ("NotFinite", "the encoder gives features that are not finite before any training"),
        ("Frozen", r"^loss 'slowness' has no gradient, because the features of the encoder have none"),
        ("Pixels", r"mine.py:Pixels has no parameters, and the method adds none: nothing can be learned"),
    ],
)
def test_an_encoder_that_goes_wrong_while_it_trains_is_one_line(
    code: Path, small_store: FrameStore, encoder: str, words: str
) -> None:
    changes = {"method": "drlim", "use_labels": False, "encoder": f"mine.py:{encoder}"}
    with pytest.raises(EgoEquivError, match=words) as caught:
        train(small_store.path, "run", **{**SHORT, **changes})
    assert "\n" not in str(caught.value)


def test_an_encoder_that_learns_nothing_serves_a_head_that_does(code: Path, small_store: FrameStore) -> None:
    assert train(small_store.path, "run", **{**SHORT, "method": "clsnet", "encoder": "mine.py:Frozen"}).result


def test_functions_and_classes_are_taken_by_their_name(small_store: FrameStore) -> None:
    from egoequiv.losses import Separation
    from egoequiv.models.encoders import ConvEncoder

    config = make_config({"data": str(small_store.path), "method": Separation, "encoder": ConvEncoder})
    assert config.method == "egoequiv.losses.equivariance:Separation"
    assert config.encoder == "egoequiv.models.encoders:ConvEncoder"
    assert make_config(config.model_dump(mode="json")) == config
