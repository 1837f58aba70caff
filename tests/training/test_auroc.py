"""The slowness AUROC, of features and while a network trains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.method_names import get_method
from egoequiv.pose import NoMotion
from egoequiv.store import FrameStore
from egoequiv.training import auroc
from egoequiv.training.auroc import TRAINING, VALIDATION, auroc_streams, norm_of, slowness_auroc, stream_auroc
from egoequiv.training.config import make_config
from egoequiv.training.network import build_net
from egoequiv.training.streams import Stream, prepare_data
from helpers import data_error


def test_auroc_by_hand() -> None:
    z_i = np.zeros((5, 2))
    z_j = np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0], [0.0, 4.0], [3.0, 0.0]])
    neighbour = np.array([True, True, False, False, False])
    # Of the 6 couples of a neighbour pair (1, 3) and a stranger pair (2, 4, 3), 1 is nearer 3 times, 3 once and a tie.
    assert slowness_auroc(z_i, z_j, neighbour) == pytest.approx((3 + 1 + 0.5) / 6)


def test_the_norm_is_the_one_asked_for() -> None:
    z_i = np.zeros((2, 2))
    z_j = np.array([[1.0, 1.0], [1.9, 0.0]])  # nearer by l2 (1.41 against 1.9), farther by l1 (2 against 1.9)
    assert slowness_auroc(z_i, z_j, np.array([True, False]), 2) == 1.0
    assert slowness_auroc(z_i, z_j, np.array([True, False]), 1) == 0.0


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100))
def test_auroc_is_the_share_of_couples_in_order_at_any_scale(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    z_i, z_j = rng.normal(size=(2, 25, 3))
    neighbour = np.arange(25) < 6
    distance = [float(np.linalg.norm(a - b)) for a, b in zip(z_i, z_j, strict=True)]
    couples = [(near, far) for near in distance[:6] for far in distance[6:]]
    expected = sum(near < far for near, far in couples) / len(couples)
    assert slowness_auroc(scale * z_i, scale * z_j, neighbour) == pytest.approx(expected)


def test_what_cannot_be_measured_is_said_in_one_line() -> None:
    z = np.zeros((3, 2))
    with data_error("3 pairs, all of them neighbours", "both kinds"):
        slowness_auroc(z, z, np.array([True, True, True]))
    with data_error("all of them strangers"):
        slowness_auroc(z, z, np.array([False, False, False]))
    with data_error("not finite"):
        slowness_auroc(z, np.full((3, 2), np.nan), np.array([True, False, True]))


@pytest.mark.parametrize("method", ["drlim", "equiv"])
def test_streams_of_any_method(small_store: FrameStore, method: str) -> None:
    config = make_config({"data": str(small_store.path), "method": method, "per_class": 2, "neighbour_pairs": 400})
    data = prepare_data(config)
    streams = auroc_streams(data, config)
    assert tuple(streams) == (TRAINING, VALIDATION) == ("auroc", "validation_auroc")
    for key, frames in ((TRAINING, data.split.train), (VALIDATION, data.split.validation)):
        assert np.isin(streams[key].i, frames).all()
        assert 0 < streams[key].target.mean() < 0.5
    if method == "drlim":
        assert streams[TRAINING] is data.train["neighbour"]
    net = build_net(config, data)
    value = float(stream_auroc(net, streams[TRAINING]))
    stream = streams[TRAINING]
    assert stream.j is not None
    with torch.no_grad():
        z_i, z_j = (net(torch.from_numpy(small_store.images[rows])).numpy() for rows in (stream.i, stream.j))
    assert value == pytest.approx(slowness_auroc(z_i, z_j, stream.target == 1), abs=1e-6)
    assert 0.5 < value <= 1


def test_at_most_so_many_rows_are_looked_at_and_frames_only_once(
    small_store: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make_config({"data": str(small_store.path), "method": "drlim", "per_class": 2, "neighbour_pairs": 400})
    data = prepare_data(config)
    net = build_net(config, data)
    encoded: list[int] = []
    monkeypatch.setattr(auroc, "CHUNK", 30)
    net.register_forward_pre_hook(lambda _, images: encoded.append(len(images[0])))
    stream_auroc(net, data.train["neighbour"], rows=40)
    chosen = np.unique(np.linspace(0, len(data.train["neighbour"]) - 1, 40).astype(int))
    stream = data.train["neighbour"]
    assert stream.j is not None
    assert sum(encoded) == len(np.union1d(stream.i[chosen], stream.j[chosen]))
    assert max(encoded) <= 30
    whole = stream_auroc(net, stream)
    monkeypatch.setattr(auroc, "CHUNK", 500)
    assert float(stream_auroc(net, stream)) == pytest.approx(float(whole), abs=1e-9)


class Twins:
    """Two networks at once: one, and one whose features are not finite."""

    maps = None
    head = None

    def __init__(self, net: torch.nn.Module) -> None:
        self.net = net
        self.input_mean = torch.zeros(1)

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        z = self.net(images)
        return torch.stack([z, z * float("nan")])


def test_many_networks_are_measured_at_once_and_a_diverged_one_has_no_auroc(small_store: FrameStore) -> None:
    config = make_config({"data": str(small_store.path), "method": "drlim", "per_class": 2, "neighbour_pairs": 200})
    data = prepare_data(config)
    net = build_net(config, data)
    values = stream_auroc(Twins(net), data.train["neighbour"])
    assert values.shape == (2,)
    assert float(values[0]) == pytest.approx(float(stream_auroc(net, data.train["neighbour"])))
    assert torch.isnan(values[1])


def test_pictures_that_are_nobodys_neighbours_have_no_streams(small_store: FrameStore) -> None:
    config = make_config({"data": str(small_store.path), "method": "clsnet", "per_class": 2})
    data = prepare_data(config)
    pictures = replace(data, store=replace(small_store, space=NoMotion(), poses=np.empty((len(small_store), 0))))
    assert auroc_streams(pictures, config) == {}


def test_labelled_images_are_no_pairs(small_store: FrameStore) -> None:
    config = make_config({"data": str(small_store.path), "method": "clsnet", "per_class": 2})
    data = prepare_data(config)
    labelled: Stream = data.train["labelled"]
    with data_error("no pairs"):
        stream_auroc(build_net(config, data), labelled)


def test_the_norm_of_a_method() -> None:
    assert [norm_of(get_method(name)) for name in ("temporal", "drlim", "equiv", "random")] == [1, 2, 2, 2]
