"""`egoequiv audit` takes every file of an export, and gives the rho of the run itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from egoequiv.auditing import audit, load_audited
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed
from egoequiv.exporting import Backbone
from egoequiv.store import FrameStore

Run = tuple[Path, Path]
FILES = ("", "encoder.onnx", "encoder.pt2", "moved.onnx", "moved.pt2")  # the first: the folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["patterns", "generators"])
def test_rho_is_that_of_the_run(kind: str, request: pytest.FixtureRequest, small_store: FrameStore) -> None:
    run, folder = request.getfixturevalue(kind)
    own = {"motions": ["up", "right"], "baselines": False, "limit": 60}
    expected = audit({"run": str(run)}, small_store, **own)
    for name in FILES:
        found = audit({"export": str(folder / name)}, small_store, **own)  # alone: its frames are its own choice
        assert found.rows[0].name == "export"
        assert found.pairs == expected.pairs
        rhos = [(one.motion, one.fit, round(one.rho, 4)) for one in found.rows[0].motions]
        assert rhos == [(one.motion, one.fit, round(one.rho, 4)) for one in expected.rows[0].motions], name
        assert any("validation frames of export" in note for note in found.notes), name


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_part_is_that_of_the_run(name: str, generators: Run, small_store: FrameStore) -> None:
    run, folder = generators
    images = np.array(small_store.images[:5])
    model = load_audited(str(folder / name), small_store, part="equivariant")
    np.testing.assert_allclose(model.features(images), embed(run, images, part="equivariant"), atol=1e-5)
    assert "part equivariant" in model.kind
    with pytest.raises(ConfigError, match="no part 'sideways'"):
        load_audited(str(folder / name), small_store, part="sideways")


def test_a_saved_backbone_is_audited(patterns: Run, small_store: FrameStore, tmp_path: Path) -> None:
    Backbone.from_pretrained(patterns[1]).save_pretrained(tmp_path / "saved")
    model = load_audited(str(tmp_path / "saved"), small_store)
    images = np.array(small_store.images[:5])
    np.testing.assert_allclose(model.features(images), embed(patterns[0], images), atol=1e-5)
    assert model.split is not None


def test_a_file_by_itself_is_enough(patterns: Run, small_store: FrameStore, tmp_path: Path) -> None:
    for name in FILES[1:]:
        shutil.copy(patterns[1] / name, tmp_path / name)
        model = load_audited(tmp_path / name, small_store)
        images = np.array(small_store.images[:5])
        np.testing.assert_allclose(model.features(images), embed(patterns[0], images), atol=1e-5)


@pytest.mark.parametrize("name", ["maps.onnx", "maps.pt2"])
def test_maps_alone_take_no_images(name: str, patterns: Run, small_store: FrameStore) -> None:
    with pytest.raises(DataError, match="takes no images; audit the encoder beside it"):
        load_audited(patterns[1] / name, small_store)


@pytest.mark.parametrize("name", FILES[1:])
def test_a_file_that_was_changed_is_refused(
    name: str, patterns: Run, generators: Run, small_store: FrameStore, tmp_path: Path
) -> None:
    shutil.copytree(patterns[1], tmp_path / "export")
    shutil.copy(generators[1] / name, tmp_path / "export" / name)  # a good file, but another
    with pytest.raises(DataError, match=rf"{name} is not the file that was exported"):
        load_audited(tmp_path / "export" / name, small_store)
