"""Stacked training: each member learns as it would alone, whatever becomes of the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.method_names import list_methods
from egoequiv.methods import METHODS
from egoequiv.models.checkpoint import load_tensors, save_tensors
from egoequiv.store import FrameStore
from egoequiv.training import make_config, run_training
from egoequiv.training.jobs import DIVERGED, Job, Outcome
from egoequiv.training.many import plan, run_many
from egoequiv.training.pace import PACE, work_of
from egoequiv.training.stack_files import left_stacks, stack_file
from egoequiv.training.stacked_runs import run_stack, stack_key

SHORT = {"iterations": 60, "per_class": 3, "log_every": 20, "checkpoint_every": 20, "validate_every": 20, "threads": 1}
SHORT |= {"encoder": "norb", "split": "paper"}
TRAINED = [name for name in list_methods() if METHODS[name].terms and not METHODS[name].defaults]


def job(store: FrameStore, out: Path, **settings: Any) -> Job:
    return Job(make_config({"data": str(store.path), **SHORT, **settings}), out)


def ignore(count: int) -> None:
    """Hear nothing."""


def grid(store: FrameStore, folder: Path, method: str, **settings: Any) -> list[Job]:
    """Three members that differ in everything in which members may differ."""
    terms = [term.name for term in METHODS[method].terms]
    return [
        job(
            store,
            folder / f"{k}",
            method=method,
            seed=k,
            learning_rate=rate,
            weight=dict.fromkeys(terms, weight),
            **settings,
        )
        for k, (rate, weight) in enumerate([(0.01, 1.0), (0.003, 0.5), (0.01, 2.0)])
    ]


def assert_close(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    """Rounding alone may differ; a hinge now and then falls to its other side by it."""
    for key in ours:
        difference = torch.linalg.vector_norm((ours[key] - theirs[key]).double())
        allowed = 1e-2 if key.startswith("optimizer.") else 2e-3
        assert difference <= allowed * torch.linalg.vector_norm(theirs[key].double()) + 1e-6, key


def assert_same_run(stacked: Path, alone: Path) -> None:
    for name in ("last", "best"):
        (ours, meta), (theirs, meta_alone) = (load_tensors(run / f"{name}.safetensors") for run in (stacked, alone))
        assert ours.keys() == theirs.keys()
        assert meta["iteration"] == meta_alone["iteration"]
        assert_close(ours, theirs)
    lines, lines_alone = (
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()] for run in (stacked, alone)
    )
    assert len(lines) == len(lines_alone) == 3
    for line, line_alone in zip(lines, lines_alone, strict=True):
        assert line == pytest.approx(line_alone, rel=1e-3, abs=1e-5)
    for name in ("config.json", "model.json", "data.json"):
        assert (stacked / name).read_bytes() == (alone / name).read_bytes()
    ours, theirs = (json.loads((run / "result.json").read_text()) for run in (stacked, alone))
    assert ours.pop("metrics") == pytest.approx(theirs.pop("metrics"), rel=1e-3, abs=1e-5)
    assert ours.pop("best_score") == pytest.approx(theirs.pop("best_score"), rel=1e-3)
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("method", TRAINED)
def test_members_learn_as_they_would_alone(small_store: FrameStore, tmp_path: Path, method: str) -> None:
    # Short: a hinge that falls to its other side by rounding parts two runs further and further.
    short = {"iterations": 24, "log_every": 8, "checkpoint_every": 8, "validate_every": 8}
    jobs = grid(small_store, tmp_path / "stack", method, **short)
    outcomes = run_stack(jobs, ignore)
    assert [outcome.job for outcome in outcomes] == jobs
    for member in jobs:
        alone = tmp_path / "alone" / member.out.name
        run_training(member.config, alone)
        assert_same_run(member.out, alone)


def test_with_decay_of_weights_and_without_momentum(small_store: FrameStore, tmp_path: Path) -> None:
    for name, settings in {"decay": {"weight_decay": 0.01}, "plain": {"momentum": 0.0, "log_every": 200}}.items():
        settings |= {"checkpoint_every": 200, "validate_every": 200} if name == "plain" else {}
        jobs = [job(small_store, tmp_path / name / f"{k}", method="equiv", seed=k, **settings) for k in range(2)]
        run_stack(jobs, ignore)
        for member in jobs:
            alone = tmp_path / "alone" / name / member.out.name
            run_training(member.config, alone)
            ours, theirs = (load_tensors(run / "last.safetensors")[0] for run in (member.out, alone))
            assert_close(ours, theirs)


def test_a_checkpoint_of_other_data_is_refused(small_store: FrameStore, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(small_store.path, store)
    jobs = [job(FrameStore.open(store), tmp_path / "runs" / f"{k}", method="drlim", seed=k) for k in range(2)]
    stop_at(jobs, 80)
    for one in jobs:
        shutil.rmtree(one.out)
    about = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(json.dumps({**about, "source": "something else"}))
    with pytest.raises(DataError, match="began on other data"):
        run_many(jobs, engine=LocalEngine(1))


def test_of_two_checkpoints_with_a_common_run_the_further_goes_on(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k, iterations=100) for k in range(3)]
    stop_at(jobs, 3 * 80)
    stop_at(jobs[:2], 2 * 40)
    assert len(list(tmp_path.glob(".stack-*"))) == 2
    assert [len(stack) for stack in left_stacks(jobs, jobs)] == [3]
    outcomes = run_many(jobs, engine=LocalEngine(2))
    assert all(outcome.result for outcome in outcomes)
    assert not list(tmp_path.glob(".stack-*"))


def test_another_device_goes_on_with_the_stack(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k) for k in range(2)]
    moved = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k, device="cpu") for k in range(2)]
    assert stack_file(jobs) == stack_file(moved)


def test_damaged_checkpoints_are_one_line(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k) for k in range(2)]
    stop_at(jobs, 80)
    path = stack_file(jobs)
    tensors, meta = load_tensors(path)
    for damage in ({**tensors, "odd": torch.zeros(1)}, {k: v for k, v in tensors.items() if k != "metrics"}):
        save_tensors(path, {k: v for k, v in damage.items() if not k.startswith("momentum")}, meta)
        with pytest.raises(DataError, match="does not fit its runs"):
            run_many(jobs, engine=LocalEngine(1))
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="is damaged"):
        run_many(jobs, engine=LocalEngine(1))
    with pytest.raises(ConfigError, match="share one folder"):
        run_many([jobs[0], jobs[0]], engine=LocalEngine(1))


@pytest.mark.parametrize("method", ["drlim", "equiv+apart"])
def test_without_labels_and_with_decay(small_store: FrameStore, tmp_path: Path, method: str) -> None:
    jobs = [
        job(small_store, tmp_path / "stack" / f"{k}", method=method, use_labels=False, seed=k, decay="cosine")
        for k in range(2)
    ]
    run_stack(jobs, ignore)
    for member in jobs:
        run_training(member.config, tmp_path / "alone" / member.out.name)
        assert_same_run(member.out, tmp_path / "alone" / member.out.name)


def test_a_member_that_diverges_does_not_disturb_the_rest(small_store: FrameStore, tmp_path: Path) -> None:
    def jobs(folder: str, rates: list[float]) -> list[Job]:
        return [job(small_store, tmp_path / folder / f"{rate:g}", method="drlim", learning_rate=rate) for rate in rates]

    disturbed = run_stack(jobs("disturbed", [0.01, 1e9, 0.02]), ignore)
    run_stack(jobs("calm", [0.01, 0.02]), ignore)
    assert [outcome.diverged_at is None for outcome in disturbed] == [True, False, True]
    assert (tmp_path / "disturbed" / "1e+09" / DIVERGED).exists()
    with pytest.raises(Exception, match="stopped being finite") as alone:
        run_training(disturbed[1].job.config, tmp_path / "alone")
    assert disturbed[1].diverged_at == getattr(alone.value, "iteration")  # noqa: B009
    for name in ("0.01", "0.02"):
        ours, theirs = (load_tensors(tmp_path / kind / name / "last.safetensors")[0] for kind in ("disturbed", "calm"))
        assert_close(ours, theirs)
    assert run_many([o.job for o in disturbed], engine=LocalEngine(1))[1].diverged_at == disturbed[1].diverged_at


class StoppedError(Exception):
    """Raised in place of a kill."""


def stop_at(jobs: list[Job], iterations: int) -> None:
    """Train a stack, and stop it once its members have done so many iterations in all."""
    done = 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        if done >= iterations:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_stack(jobs, tick)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and p.name != PACE
    }


@pytest.mark.parametrize("diverges", [False, True])
def test_a_stack_that_was_stopped_ends_with_the_same_bytes(
    small_store: FrameStore, tmp_path: Path, diverges: bool
) -> None:
    changes = {"checkpoint_every": 20, "iterations": 100}

    def jobs(folder: str) -> list[Job]:
        found = grid(small_store, tmp_path / folder, "equiv+drlim", **changes)
        if diverges:
            found.append(job(small_store, tmp_path / folder / "3", method="equiv+drlim", learning_rate=1e9, **changes))
        return found

    whole, stopped = jobs("whole"), jobs("stopped")
    run_stack(whole, ignore)
    for iterations in (40, 60):  # a tick comes before its checkpoint is written
        stop_at(stopped, iterations * len(stopped))
        assert left_stacks(stopped, stopped) == [sorted(stopped, key=lambda j: (j.config.learning_rate, j.out.name))]
    run_many(stopped, engine=LocalEngine(1))
    assert not left_stacks(stopped, stopped)
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


def test_a_stack_stopped_while_it_wrote_its_folders_is_finished(small_store: FrameStore, tmp_path: Path) -> None:
    whole, stopped = (grid(small_store, tmp_path / name, "drlim") for name in ("whole", "stopped"))
    run_stack(whole, ignore)
    checkpoint = stack_file(stopped)
    saved: list[bytes] = []

    def keep(_: int) -> None:
        if checkpoint.exists():
            saved.append(checkpoint.read_bytes())

    run_stack(stopped, keep)
    checkpoint.write_bytes(saved[-1])
    (stopped[1].out / "result.json").unlink()
    outcomes = run_many(stopped, engine=LocalEngine(1))
    assert all(outcome.result is not None for outcome in outcomes)
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


def test_what_shares_a_stack(small_store: FrameStore, tmp_path: Path) -> None:
    base = job(small_store, tmp_path / "a", method="equiv").config
    same = base.model_copy(update={"seed": 5, "learning_rate": 0.5, "weight": {"equivariance": 3.0}})
    assert stack_key(base) == stack_key(same)
    for change in ({"pair_seed": 1}, {"method": "drlim"}, {"batch_size": 8}, {"margin": {"equivariance": 0.1}}):
        assert stack_key(base.model_copy(update=change)) != stack_key(base)
    for change in ({"encoder": "kitti"}, {"optimizer": "adam"}, {"precision": "bfloat16"}, {"method": "random"}):
        assert stack_key(base.model_copy(update=change)) is None


def test_a_plan_gives_every_worker_something(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k) for k in range(5)]
    assert [len(task) for task in plan(jobs, jobs, workers=1)] == [5]
    assert sorted(len(task) for task in plan(jobs, jobs, workers=2)) == [2, 3]
    assert [len(task) for task in plan(jobs, jobs, workers=9)] == [1] * 5
    more = [job(small_store, tmp_path / f"e{k}", method="equiv+drlim", seed=k) for k in range(45)]
    sizes = [len(task) for task in plan(jobs + more, jobs + more, workers=2)]
    assert sizes == [15, 15, 15, 5]  # at most 20, the longest first
    done = {member.out for task in plan(jobs + more, jobs + more, workers=2) for member in task}
    assert len(done) == 50


def test_a_run_that_was_begun_alone_goes_on_alone(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method="drlim", seed=k) for k in range(3)]

    def stop(metrics: dict[str, float]) -> None:
        if metrics["iteration"] == 40:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_training(jobs[1].config, jobs[1].out, on_metrics=stop)
    assert sorted(len(task) for task in plan(jobs, jobs, workers=1)) == [1, 2]
    outcomes: list[Outcome] = run_many(jobs, engine=LocalEngine(1))
    assert all(outcome.result for outcome in outcomes)
    run_training(jobs[1].config, tmp_path / "alone")
    assert files(tmp_path / "1") == files(tmp_path / "alone")


def test_progress_counts_every_iteration_once(small_store: FrameStore, tmp_path: Path) -> None:
    jobs = [job(small_store, tmp_path / f"{k}", method=method) for k, method in enumerate(["drlim", "drlim", "equiv"])]
    seen: list[tuple[int, int]] = []
    run_many(jobs, engine=LocalEngine(1), on_progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 180)
    assert seen[-1] == (180, 180)
    assert seen == sorted(seen)
    again: list[tuple[int, int]] = []
    run_many(jobs, engine=LocalEngine(1), on_progress=lambda done, total: again.append((done, total)))
    assert again == [(180, 180)]


def test_progress_follows_the_work_and_not_the_iterations(small_store: FrameStore, tmp_path: Path) -> None:
    small, large = (
        job(small_store, tmp_path / "0", method="drlim"),
        job(small_store, tmp_path / "1", encoder="residual"),
    )
    work = work_of([small, large])
    assert 1 <= work[small.out] < work[large.out] / 10
    assert set(work_of([small, job(small_store, tmp_path / "2", method="equiv")]).values()) == {1}
    seen: list[tuple[int, int]] = []
    run_many([small], engine=LocalEngine(1))
    run_many([small, large], engine=LocalEngine(1), on_progress=lambda done, total: seen.append((done, total)))
    assert seen[0][0] < 10  # half of the iterations are done, and hardly any work
    assert seen[-1] == (120, 120)
