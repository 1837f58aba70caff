"""The audit as a whole, on a store whose pictures hold their pose."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import egoequiv
from auditing.toys import WRONG, Changing, TinyNet, driving_store, equivariant, posed_store
from egoequiv.auditing import AuditedModel, load_audited
from egoequiv.auditing.fits import LEAST_SQUARES
from egoequiv.auditing.motion_error import measure_motion
from egoequiv.auditing.pair_choice import choose_motions, divide_store
from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.pairs import MinedPatterns, Split, mine_patterns
from egoequiv.pose import NoMotion
from egoequiv.report.audit import results_of
from egoequiv.store import FrameStore
from evaluation.task_worlds import turning_world
from helpers import bare_store, data_error

STORE = posed_store()


def test_a_model_that_is_linear_in_every_motion_has_no_error() -> None:
    table = egoequiv.audit({"toy": equivariant}, STORE)
    assert table.motions == ("up", "right", "up+right", "up+left", "down+right")
    assert [row.model for row in table.rows] == ["pixels", "random", "toy"]
    toy, noise = table.rows[2], table.rows[0]
    assert all(found.rho < 1e-5 and found.ratio_of_means < 1e-5 for found in toy.motions)
    assert all(
        0.6 < found.rho < 1.1 for found in noise.motions
    )  # nothing to foretell, but the mean is nearer than a copy
    assert all(counts.divided_by == "groups" for counts in table.pairs)


def test_rho_against_plain_loops() -> None:
    patterns = choose_motions(STORE, ["right"], 1.0)
    (parts,), notes = divide_store(STORE, np.arange(len(STORE)), patterns, seed=3)
    assert notes == ["pairs of right: what is measured comes from 2 recordings, and an interval needs 5"]
    z = load_audited(TinyNet(), STORE).features(STORE.images, "body").astype(np.float64)
    found = measure_motion(lambda rows: z[rows], parts, (LEAST_SQUARES,))
    source = np.column_stack([z[parts.fit.j], np.ones(len(parts.fit))])
    back = np.linalg.lstsq(source, z[parts.fit.i], rcond=None)[0]
    ratios, errors, moves = [], [], []
    for i, j in zip(parts.measure.i, parts.measure.j, strict=True):
        errors.append(np.sqrt(sum((a - b) ** 2 for a, b in zip(z[i], [*z[j], 1.0] @ back, strict=True))))
        moves.append(np.sqrt(sum((a - b) ** 2 for a, b in zip(z[i], z[j], strict=True))))
        ratios.append(errors[-1] / moves[-1])
    assert found.rho == pytest.approx(sum(ratios) / len(ratios))
    assert found.ratio_of_means == pytest.approx(sum(errors) / sum(moves))
    assert np.isnan(found.interval).all()  # of two recordings
    assert (found.fit, found.pairs_excluded) == ("least squares", 0)
    mean = [sum(z[i][k] for i in parts.fit.i) / len(parts.fit) for k in range(z.shape[1])]
    constant = [np.sqrt(sum((a - b) ** 2 for a, b in zip(z[i], mean, strict=True))) for i in parts.measure.i]
    assert found.constant == pytest.approx(sum(c / m for c, m in zip(constant, moves, strict=True)) / len(moves))
    whole = egoequiv.audit(
        TinyNet(), STORE, motions=["right"], layers=["body"], candidates=[LEAST_SQUARES], seed=3, baselines=False
    )
    assert whole.rows[1].of("right").rho == pytest.approx(found.rho, rel=1e-4)


def test_rho_does_not_change_with_the_scale_of_features() -> None:
    def thousandfold(images: torch.Tensor) -> torch.Tensor:
        return 1000 * equivariant(images)[:, :2] + 7 * images.flatten(1)[:, 3:5]

    def as_it_is(images: torch.Tensor) -> torch.Tensor:
        return thousandfold(images) / 1000

    table = egoequiv.audit([thousandfold, as_it_is], STORE, motions=["right"], baselines=False)
    first, second = (row.of("right") for row in table.rows)
    assert first.fit == second.fit
    assert first.rho == pytest.approx(second.rho, rel=1e-3)


def test_layers_where_a_model_has_them() -> None:
    table = egoequiv.audit(TinyNet(), STORE, motions=["up"], layers=["body", "conv1"])
    assert [row.name for row in table.rows] == ["pixels", "random", "random / conv1", "TinyNet", "TinyNet / body"]
    assert [row.dimension for row in table.rows] == [144, 64, 32, 5, 4]
    with pytest.raises(ConfigError, match="'boddy' is not known in random, TinyNet; did you mean body"):
        egoequiv.audit(TinyNet(), STORE, layers=["boddy"])


def test_the_same_name_twice_is_numbered() -> None:
    table = egoequiv.audit([equivariant, equivariant, "pixels"], STORE, motions=["up"], limit=80)
    assert [row.model for row in table.rows] == ["random", "equivariant", "equivariant (2)", "pixels"]
    again = egoequiv.audit([equivariant], STORE, motions=["up"], limit=80, baselines=False)
    alone = [replace(found, baselines={}, ratio_baselines={}) for found in table.rows[1].motions]
    assert list(again.rows[0].motions) == alone  # whoever else is in the table


def test_few_recordings_are_divided_by_frames_with_a_note(small_store: FrameStore) -> None:
    table = egoequiv.audit("pixels", small_store, motions=["right"], baselines=False)
    assert table.pairs[0].divided_by == "frames"
    assert table.notes[0] == f"frames: all 144 of {small_store.path}"
    assert table.notes[1] == (
        "right: too few recordings with these motions to keep whole ones apart, so frames were divided in order, none "
        "of them in two parts: maps are measured on recordings that they were fitted on, and rho is lower than it "
        "would be on others"
    )
    assert len(table.notes) == 2  # and an interval, over six recordings
    assert np.isfinite(table.rows[0].motions[0].interval).all()


def test_motions_with_too_few_pairs_are_left_out_with_a_note() -> None:
    (motion,) = egoequiv.audit("pixels", posed_store(2), motions=["right", "up+up+up"], baselines=False).pairs
    assert motion.motion == "right"
    table = egoequiv.audit("pixels", posed_store(2), motions=["right", "up+up+up"], baselines=False)
    assert "motion 'up+up+up': 12 pairs are too few" in table.notes[1]
    with pytest.raises(TooFewPairsError, match=r"no motion has enough pairs.*'up\+up\+up': 12 pairs"):
        egoequiv.audit("pixels", posed_store(2), motions=["up+up+up"])


def test_features_that_do_not_move_have_no_rho() -> None:
    def blind(images: torch.Tensor) -> torch.Tensor:
        return torch.ones(len(images), 3)

    table = egoequiv.audit(blind, STORE, motions=["up"], baselines=False)
    assert "blind, up: not defined" in table.notes[-1]
    described = json.loads(json.dumps(table.describe(), allow_nan=False))
    assert described["rows"][0]["motions"][0]["rho"] is None
    assert described["rows"][0]["motions"][0]["interval"] == [None, None]


def test_pairs_with_the_same_features_are_counted() -> None:
    def asleep(images: torch.Tensor) -> torch.Tensor:
        awake = (images[:, 0, 0, 2:3] * 255).round() % 2  # every other recording
        return equivariant(images) * awake

    table = egoequiv.audit(asleep, STORE, motions=["right"], baselines=False)
    found = table.rows[0].of("right")
    assert 0 < found.pairs_excluded < table.pairs[0].measured
    assert np.isfinite(found.rho)


@pytest.mark.parametrize("fault", ["raises", "gives a list", "gives too few rows", "gives NaN"])
def test_a_model_that_goes_wrong_is_told_of_before_others_are_measured(fault: str) -> None:
    done: list[str] = []
    call, words = WRONG[fault]
    with data_error("model wrong", *words):
        egoequiv.audit({"right": equivariant, "wrong": call}, STORE, on_progress=lambda what, *_: done.append(what))
    assert done == []


def test_stores_that_cannot_be_audited() -> None:
    unposed = bare_store(np.empty((30, 0)), [0] * 30, space=NoMotion())
    with data_error("bare-store has no poses"):
        egoequiv.audit("pixels", unposed)
    with data_error("holds poses but no images"):
        egoequiv.audit("pixels", replace(STORE, images=np.empty((len(STORE), 0, 0, 1), np.uint8)))
    with pytest.raises(ConfigError, match="no attribute 'toy'"):
        egoequiv.audit("pixels", STORE, hold_out="toy")
    with pytest.raises(ConfigError, match="no model was named"):
        egoequiv.audit([], STORE, baselines=False)


def test_motions_of_a_drive_are_mined_or_given() -> None:
    store = driving_store()
    table = egoequiv.audit("pixels", store, baselines=False)
    patterns = mine_patterns(store).patterns
    assert table.motions == patterns.names
    given = egoequiv.audit("pixels", store, motions=patterns, baselines=False)
    assert given.rows == table.rows
    with pytest.raises(ConfigError, match="another motion space"):
        egoequiv.audit("pixels", STORE, motions=MinedPatterns.from_description(patterns.describe(), "patterns"))


def hashed(images: torch.Tensor) -> torch.Tensor:
    """Features that have nothing to do with each other: noise that begins at the sum of the pixels."""
    seeds = [int(image.double().sum() * 1e6) for image in images]
    return torch.stack([torch.randn(40, generator=torch.Generator().manual_seed(seed)) for seed in seeds])


def test_noise_is_no_better_than_a_constant_and_marked() -> None:
    table = egoequiv.audit({"noise": hashed, "toy": equivariant}, STORE, motions=["up", "right"], baselines=False)
    for found in table.rows[0].motions:
        assert found.constant == pytest.approx(np.sqrt(0.5), abs=0.03)
        assert found.rho == pytest.approx(found.constant, abs=0.01)
        assert found.is_marked
    assert not any(found.is_marked for found in table.rows[1].motions)
    described = table.describe()["rows"][0]["motions"][0]
    assert (described["is_below_references"], described["constant"]) == (False, table.rows[0].motions[0].constant)


def test_a_rho_that_pixels_have_too_is_marked() -> None:
    """Pictures that are the features: a model that gives half of them is below copying and a constant all the same."""
    told = np.round(40 * (turning_world(8)[1] + 2)).astype(np.uint8)[:, None, :, None]
    images = np.tile(told, (1, 12, 3, 1))

    def halved(images: torch.Tensor) -> torch.Tensor:
        return images.flatten(1) / 2

    store = replace(STORE, images=images)
    table = egoequiv.audit(halved, store, motions=["right"])
    found = table.rows[-1].of("right")
    assert found.rho < min(1, found.constant)
    assert found.baselines["pixels"] == pytest.approx(found.rho, abs=1e-6)
    assert found.ratio_baselines["pixels"] == pytest.approx(found.ratio_of_means, abs=1e-6)
    assert not found.is_below_references
    assert not found.is_ratio_below_references
    results = results_of(table)
    assert [results.is_marked(results.row("halved"), metric) for metric in results.metrics[1:]] == [True, True]
    assert not table.rows[0].of("right").baselines  # of the baselines themselves
    (alone,) = egoequiv.audit(halved, store, motions=["right"], baselines=False).rows
    assert not alone.of("right").is_marked


def test_a_model_that_is_not_deterministic_is_noted() -> None:
    def dropping(images: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(images.flatten(1), 0.5)

    table = egoequiv.audit([dropping, equivariant], STORE, motions=["up"], limit=80, baselines=False)
    assert table.notes[2:] == ("dropping: not deterministic, its features of the same images differ between two calls",)


@pytest.mark.parametrize("calls", [1, 3])
def test_the_number_of_features_may_not_change(calls: int) -> None:
    with data_error("model Changing", "4 features for some images and 1 for others"):
        egoequiv.audit(Changing(calls), STORE, motions=["up"], limit=80, baselines=False, batch_size=10)


def test_baselines_keep_their_names() -> None:
    with pytest.raises(ConfigError, match=r"model pixels \(function\) has the name of a baseline"):
        egoequiv.audit({"pixels": equivariant}, STORE)
    alone = egoequiv.audit({"pixels": equivariant}, STORE, motions=["up"], limit=80, baselines=False)
    assert [row.kind for row in alone.rows] == ["function"]


@pytest.mark.parametrize(("wrong", "words"), [({"pooling": "max"}, "'max'"), ({"batch_size": 0}, "1 or more images")])
def test_settings_that_make_no_sense(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        egoequiv.audit("pixels", STORE, **wrong)


def test_gray_images_are_shown_in_three_channels_to_a_model_that_takes_them() -> None:
    table = egoequiv.audit({"colour": TinyNet(3)}, STORE, motions=["up"], limit=80, baselines=False)
    assert table.rows[0].preprocessing == "12 x 12 x 3, mean 0, std 1"
    assert "colour takes 3 channels: gray images are shown to it in three channels" in table.notes
    declared = load_audited(TinyNet(3), STORE, name="colour", declared={"channels": 3})
    again = egoequiv.audit(declared, STORE, motions=["up"], limit=80, baselines=False)
    assert again.rows[0].motions == table.rows[0].motions
    colour = replace(STORE, images=np.repeat(STORE.images, 3, axis=3))
    gray = egoequiv.audit({"gray": TinyNet()}, colour, motions=["up"], limit=80, baselines=False)
    assert "gray takes 1 channel: it is shown images in gray" in gray.notes


def test_frames_without_a_value_are_left_out() -> None:
    toy = np.where(STORE.recording < 2, "", (STORE.recording % 3).astype(str))
    store = replace(STORE, attributes={"toy": toy})
    table = egoequiv.audit("pixels", store, motions=["right"], hold_out="toy", baselines=False)
    assert "48 frames have no toy and are left out" in table.notes
    assert table.frames <= len(STORE) - 48
    (counts,) = table.pairs
    assert counts.fitted + counts.chosen_on + counts.measured == (len(STORE) - 48)  # each view has one to its right
    assert table.hold_out == table.describe()["hold_out"] == "toy"


def split_in_two(store: FrameStore, share: int) -> Split:
    """Validation frames are those of the first recordings."""
    rows = np.arange(len(store))
    return Split(rows[store.recording >= share], rows[store.recording < share], "by-recording")


@pytest.fixture
def trained() -> AuditedModel:
    """A model that was trained on recordings 6 and 7."""
    return replace(load_audited(equivariant, STORE, name="trained"), split=split_in_two(STORE, 6))


def test_a_run_is_measured_on_its_validation_frames_unless_all_are_asked_for(trained: AuditedModel) -> None:
    for frames in ("auto", "validation"):
        table = egoequiv.audit(trained, STORE, motions=["right"], frames=frames, baselines=False)
        assert table.notes[0] == "frames: 144 validation frames of trained, of 192 in the store"
        assert "`egoequiv evaluate` gives another rho" in table.notes[1]
        assert table.frames == 144
        assert (
            "leakage: 0 of 144 validation frames of trained have a training frame near them (within one step or "
            "second, or at the same place of a map) (split by-recording)"
        ) in table.notes
    table = egoequiv.audit(trained, STORE, motions=["right"], frames="all", baselines=False)
    assert table.notes[0] == "frames: all 192, training frames too: trained was trained on frames of this store"
    assert table.frames == 192


def test_near_copies_of_training_frames_are_said(trained: AuditedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egoequiv.auditing.frame_choice.count_near_copies", lambda *_: 5)
    table = egoequiv.audit(trained, STORE, motions=["right"], baselines=False)
    (said,) = (note for note in table.notes if "look nearly the same" in note)
    assert said.startswith("leakage of trained: 5 of 144 validation frames look nearly the same as a training frame")
    assert said.endswith("so its rho may be too low")


def test_several_runs_are_measured_on_what_none_was_trained_on(trained: AuditedModel) -> None:
    other = replace(trained, name="other", split=split_in_two(STORE, 4))
    table = egoequiv.audit([trained, other], STORE, motions=["right"], baselines=False)
    assert table.notes[0] == "frames: 96 validation frames of trained, other, of 192 in the store"
    rows = np.arange(len(STORE))
    against = replace(
        trained, name="against", split=Split(rows[STORE.recording < 6], rows[STORE.recording >= 6], "paper")
    )
    with data_error("trained, against have no validation frame in common", "--frames all"):
        egoequiv.audit([trained, against], STORE, motions=["right"], baselines=False)


def test_leakage_is_said(trained: AuditedModel) -> None:
    rows = np.arange(len(STORE))
    leaky = replace(trained, split=Split(rows[rows % 3 == 0], rows[rows % 3 != 0], "paper"))
    table = egoequiv.audit(leaky, STORE, motions=["right"], baselines=False)
    assert any(note.startswith("leakage: 128 of 128 validation frames of trained") for note in table.notes)


def test_too_few_validation_pairs_say_how_to_take_all_frames(trained: AuditedModel) -> None:
    with pytest.raises(TooFewPairsError, match="--frames all"):
        egoequiv.audit(replace(trained, split=split_in_two(STORE, 1)), STORE, motions=["right"], frames="validation")
    with pytest.raises(ConfigError, match="frames must be auto, validation, all, found 'some'"):
        egoequiv.audit(trained, STORE, frames="some")  # type: ignore[arg-type]
