"""Collapse: found where it happens, and not where it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.engines import LocalEngine
from egoequiv.method_names import list_methods
from egoequiv.methods import METHODS
from egoequiv.models.network import ALL, EQUIVARIANT, INVARIANT
from egoequiv.store import FrameStore
from egoequiv.training import make_config, prepare_data, run_training
from egoequiv.training.collapse import (
    LEAST_RANK,
    LEAST_SPREAD,
    RANK,
    SPREAD,
    FeatureCheck,
    collapse_warning,
    effective_rank,
    has_collapsed,
)
from egoequiv.training.jobs import Job
from egoequiv.training.many import run_many
from egoequiv.training.run_folder import RunFolder

BASE = {"encoder": "norb", "split": "by-recording", "per_class": 3, "threads": 1}
FEW = {"iterations": 200, "log_every": 50, "validate_every": 100, "checkpoint_every": 100, **BASE}
# Random maps pull all features to one point, and without labels nothing brings them apart again.
COLLAPSING = {"method": "equiv", "use_labels": False, "map_init": "xavier", "learning_rate": 0.1}
# On so small a world the l1 distance leaves one unit of the network alive; on the turntable it does not.
ON_A_LINE = ("temporal",)
HEALTHY = [
    (method, labels)
    for method in list_methods()
    for labels in (True, False)
    if method not in ON_A_LINE
    and (labels or method not in ("random", "clsnet"))
    and (not METHODS[method].defaults or method == "recording+motion")
]


class Fixed(torch.nn.Module):
    """A network that gives the features it was made with, whatever it sees."""

    input_mean = torch.zeros(1)
    maps = head = None

    def __init__(self, features: Tensor, invariant: int = 0) -> None:
        super().__init__()
        self.features = features
        self.mapped_part = EQUIVARIANT if invariant else ALL
        self.parts = {ALL: slice(None), INVARIANT: slice(0, invariant), EQUIVARIANT: slice(invariant, None)}
        self.at = 0

    def forward(self, images: Tensor) -> Tensor:
        found = self.features[..., self.at : self.at + len(images), :]
        self.at = (self.at + len(images)) % self.features.shape[-2]
        return found

    def part(self, name: str) -> slice:
        return self.parts[name]


@pytest.fixture
def check(small_store: FrameStore) -> tuple[FeatureCheck, Tensor]:
    """A check of features that began with this spread: random ones around a point as far away as they are long."""
    data = prepare_data(make_config({"data": str(small_store.path), "method": "equiv", **BASE}))
    z = torch.randn(len(data.split.validation), 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    z = z - z.mean(dim=0) + 1.0
    return FeatureCheck(data, Fixed(z)), z


def test_effective_rank_by_hand() -> None:
    assert float(effective_rank(torch.eye(5))) == pytest.approx(5)
    assert float(effective_rank(torch.outer(torch.arange(7.0), torch.ones(3)))) == pytest.approx(1, abs=1e-3)
    # Singular values 3 and 1: shares 3/4 and 1/4.
    expected = np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    assert float(effective_rank(torch.diag(torch.tensor([3.0, 1.0])))) == pytest.approx(expected)
    assert float(effective_rank(torch.zeros(4, 3))) == 0


def test_spread_by_hand(check: tuple[FeatureCheck, Tensor]) -> None:
    measure, z = check
    centre = z.mean(dim=0)
    for around, scale in ((1.0, 1.0), (1.0, 100.0), (0.1, 1.0), (0.001, 1.0)):
        features = scale * (centre + around * (z - centre))
        found = measure(Fixed(features))
        lengths = [float(torch.linalg.vector_norm(f, dim=1).square().mean().sqrt()) for f in (features, z)]
        assert float(found[SPREAD]) == pytest.approx(scale * around * lengths[1] / lengths[0])
        collapsed = measure.collapse({key: float(value) for key, value in found.items()})
        assert list(collapsed) == ([ALL] if around == 0.001 else [])


@pytest.mark.parametrize("features", ["zero", "equal", "shrunk", "line"])
def test_every_way_to_collapse(check: tuple[FeatureCheck, Tensor], features: str) -> None:
    measure, z = check
    one = {"zero": 0 * z, "equal": 0 * z + 3, "shrunk": 1e-4 * z, "line": z[:, :1] * torch.ones(10)}[features]
    found = measure(Fixed(torch.stack([z, one, z * float("nan")])))
    words = [measure.collapse({key: float(value[k]) for key, value in found.items()}) for k in range(2)]
    assert words[0] == {}
    assert ("on one line" if features == "line" else "nearly equal") in words[1][ALL]
    assert all(value[2].isnan() for value in found.values())
    assert measure.collapse({}) == {}


def in_parts(z: Tensor) -> Tensor:
    """Features whose first four and other six have length 1, as those of networks with parts."""
    return torch.cat([functional.normalize(part, dim=-1) for part in (z[..., :4], z[..., 4:])], dim=-1)


@pytest.fixture
def parts_check(small_store: FrameStore) -> Callable[[Tensor, Tensor], dict[str, str]]:
    """Which parts have collapsed, from features (N, 10) before and after training; N may be too many."""
    data = prepare_data(make_config({"data": str(small_store.path), "method": "equiv", **BASE}))

    def check(before: Tensor, after: Tensor) -> dict[str, str]:
        measure = FeatureCheck(data, Fixed(before[: len(data.split.validation)], 4))
        found = measure(Fixed(after[: len(data.split.validation)], 4))
        assert set(found) == {f"{what}_{part}" for what in (SPREAD, RANK) for part in (INVARIANT, EQUIVARIANT)}
        return measure.collapse({key: float(value) for key, value in found.items()})

    return check


def test_each_part_is_judged_by_itself(parts_check: Callable[[Tensor, Tensor], dict[str, str]]) -> None:
    z = in_parts(torch.randn(500, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64))
    for part, where in ((EQUIVARIANT, slice(4, 10)), (INVARIANT, slice(0, 4))):
        gone = z.clone()
        gone[:, where] = gone[:1, where]
        found = parts_check(z, gone)
        assert list(found) == [part]
        assert f"the {part} features of all frames are nearly equal" in found[part]
    assert parts_check(z, z) == {}


def test_a_few_clips_may_lie_on_a_line_and_pairs_may_not(
    parts_check: Callable[[Tensor, Tensor], dict[str, str]],
) -> None:
    z = in_parts(torch.randn(500, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64))
    line = z.clone()
    line[::2, :4], line[1::2, :4] = z[0, :4], z[1, :4]
    assert parts_check(z, line) == {}
    line[::2, 4:], line[1::2, 4:] = z[0, 4:], z[1, 4:]
    assert list(parts_check(z, line)) == [EQUIVARIANT]


def test_features_that_began_nearly_equal_may_not_come_nearer(
    parts_check: Callable[[Tensor, Tensor], dict[str, str]],
) -> None:
    z = torch.randn(500, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    before, after = (in_parts(torch.ones(10) + spread * z) for spread in (0.15, 0.05))  # a third is above the limit
    assert parts_check(before, after).keys() == {INVARIANT, EQUIVARIANT}
    assert parts_check(before, before) == {}


def test_two_classes_may_lie_on_a_line(small_store: FrameStore) -> None:
    config = make_config(
        {"data": str(small_store.path), "method": "clsnet", "label_column": "take", **BASE, "split": "paper"}
    )
    data = prepare_data(config)
    assert data.recognition is not None
    assert data.recognition.class_names == ("0", "1")
    z = torch.randn(len(data.split.validation), 10, generator=torch.Generator().manual_seed(0))
    assert FeatureCheck(data, Fixed(z)).collapse({SPREAD: 1.0, RANK: 1.01}) == {}


def train_one(store: FrameStore, out: Path, **settings: Any) -> tuple[dict[str, Any], list[str]]:
    notes: list[str] = []
    run = run_training(make_config({"data": str(store.path), **FEW, **settings}), out, on_note=notes.append)
    return run.result, [note for note in notes if not note.startswith("warning: rho")]  # few pairs, told before


def test_a_run_that_collapses_says_so_on_the_way_and_at_the_end(small_store: FrameStore, tmp_path: Path) -> None:
    result, notes = train_one(small_store, tmp_path / "run", **COLLAPSING)
    assert result["collapsed"] is True
    assert result["collapsed_parts"] == [ALL]
    assert result["metrics"][SPREAD] < LEAST_SPREAD
    assert json.loads((tmp_path / "run" / "result.json").read_text())["collapsed"] is True
    assert len(notes) == 2  # at the first validation, and at the end
    for words in (
        "nearly equal",
        "map_init=identity",
        "learning_rate (now 0.1)",
        "margin.equivariance",
        "with labels",
    ):
        assert words in notes[0]
        assert words in notes[1]
    assert all("\n" not in note for note in notes)
    lines = RunFolder(tmp_path / "run").metrics()
    assert [SPREAD in line for line in lines] == [False, True, False, True]


@pytest.mark.parametrize("method", ON_A_LINE)
def test_features_on_a_line_are_flagged(small_store: FrameStore, tmp_path: Path, method: str) -> None:
    result, notes = train_one(small_store, tmp_path / "run", method=method)
    assert result["collapsed"] is True
    assert result["metrics"][RANK] < LEAST_RANK
    assert result["metrics"]["validation_top1"] < 0.5  # of three classes, at most one is recognised
    assert "on one line" in notes[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "labels"), HEALTHY)
def test_healthy_runs_are_not_flagged(small_store: FrameStore, tmp_path: Path, method: str, labels: bool) -> None:
    narrow = not labels and METHODS[method].without_labels().terms == METHODS["equiv-narrow"].without_labels().terms
    settings = {"margin": {"equivariance": 1.0}} if narrow else {}  # with margin 0.1 alone, features end on a line
    result, notes = train_one(small_store, tmp_path / "run", method=method, use_labels=labels, **settings)
    assert result["collapsed"] is False
    assert notes == []
    if method != "random":
        assert min(value for key, value in result["metrics"].items() if key.startswith(SPREAD)) > 4 * LEAST_SPREAD
        assert min(value for key, value in result["metrics"].items() if key.startswith(RANK)) > LEAST_RANK


def test_a_member_of_a_stack_collapses_alone(small_store: FrameStore, tmp_path: Path) -> None:
    few = {**FEW, "iterations": 100}
    jobs = [
        Job(
            make_config({"data": str(small_store.path), **few, **COLLAPSING, "learning_rate": rate}),
            tmp_path / f"{rate}",
        )
        for rate in (1e-5, 0.1)
    ]
    calm, fallen = (outcome.result for outcome in run_many(jobs, engine=LocalEngine(1)))
    assert calm is not None
    assert fallen is not None
    assert (calm["collapsed"], fallen["collapsed"]) == (False, True)
    alone, _ = train_one(small_store, tmp_path / "alone", **COLLAPSING, iterations=100)
    assert fallen["metrics"][SPREAD] == pytest.approx(alone["metrics"][SPREAD], rel=0.1)


def test_a_collapsed_run_resumes_to_the_same_bytes(small_store: FrameStore, tmp_path: Path) -> None:
    train_one(small_store, tmp_path / "whole", **COLLAPSING)

    def stop(metrics: dict[str, float]) -> None:
        if metrics["iteration"] == 150:
            raise KeyboardInterrupt

    config = make_config({"data": str(small_store.path), **FEW, **COLLAPSING})
    with pytest.raises(KeyboardInterrupt):
        run_training(config, tmp_path / "cut", on_metrics=stop)
    run_training(config, tmp_path / "cut", resume=True)
    for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes(), name


def test_a_collapse_by_the_relative_error_is_cured_by_its_weight(small_store: FrameStore) -> None:
    base = {"data": str(small_store.path), "method": "recording+motion", "use_labels": False}
    found = {EQUIVARIANT: "the equivariant part is gone"}
    large = collapse_warning(found, make_config({**base, "weight": {"relative": 10.0}}))
    assert "--set weight.relative=0.5 (now 10)" in large
    assert "learning_rate" not in large
    small = collapse_warning(found, make_config({**base, "weight": {"relative": 0.5}}))
    assert "weight.relative" not in small
    calm = collapse_warning(found, make_config({**base, "weight": {"relative": 0.5}, "use_labels": True}))
    assert calm == "warning: the equivariant part is gone: choose another method than recording+motion"


def test_all_features_have_collapsed_where_each_part_has() -> None:
    parts = (INVARIANT, EQUIVARIANT)
    assert has_collapsed(ALL, [ALL], ())
    assert has_collapsed(EQUIVARIANT, [EQUIVARIANT], parts)
    assert not has_collapsed(ALL, [EQUIVARIANT], parts)
    assert has_collapsed(ALL, [EQUIVARIANT, INVARIANT], parts)
    assert not has_collapsed(ALL, (), ())
