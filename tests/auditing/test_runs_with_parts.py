"""A run is audited with the features that its network computes: images scaled one by one, and parts of length 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from egoequiv.auditing import load_audited
from egoequiv.evaluation import embed
from egoequiv.store import FrameStore
from egoequiv.training import train

TINY = {"iterations": 2, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "batch_size": 8, "threads": 1}


@pytest.mark.parametrize("encoder", ["norb", "residual"])
@pytest.mark.parametrize("normalise", ["image", "dataset"])
@pytest.mark.parametrize("method", ["recording+motion", "recording"])
def test_audited_features_are_those_of_the_run(
    small_store: FrameStore, tmp_path: Path, method: str, normalise: str, encoder: str
) -> None:
    settings = {**TINY, "method": method, "normalise": normalise, "encoder": encoder, "use_labels": False}
    run = train(small_store.path, tmp_path / "run", **settings).path
    found = load_audited(str(run), small_store).features(small_store.images[:6])
    np.testing.assert_allclose(found, embed(run, small_store)[:6], rtol=1e-4, atol=1e-5)
    if method == "recording+motion":
        part = load_audited(str(run), small_store, part="equivariant").features(small_store.images[:6])
        expected = embed(run, small_store, part="equivariant")[:6]
        np.testing.assert_allclose(part, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1, rtol=1e-5)
