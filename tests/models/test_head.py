"""The head on a backbone: whitening, branches that do not mix, and what is recorded of the backbone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.head import KEPT_LENGTH, LEAST_SIZE, SMALLEST_VARIANCE, BackboneHead
from tiny_backbones import WIDTH, write_tiny


@pytest.fixture(scope="module")
def dinov2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny("dinov2", tmp_path_factory.mktemp("tiny"))


def head(folder: Path, **changes: Any) -> BackboneHead:
    settings = {"size": "28x42", "hidden": 8, "feature_dim": 6, "kept": 0, **changes}
    return BackboneHead((12, 12, 3), str(folder), **settings).eval()


def drawn_cells(count: int, dim: int) -> Tensor:
    """Cells whose components have variances from 100 down to less than 0.001."""
    generator = torch.Generator().manual_seed(0)
    sizes = 10 * torch.logspace(0, -2.5, dim)
    axes = torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0]
    return torch.randn(count, dim, generator=generator) * sizes @ axes + torch.arange(dim)


def test_leading_components_are_white(dinov2: Path) -> None:
    encoder = head(dinov2, components=12)
    cells = drawn_cells(500, 6 * WIDTH)
    encoder.fit_whitening(cells)
    read = encoder.whitened(cells)
    assert read.shape == (500, 12)
    torch.testing.assert_close(read.mean(0), torch.zeros(12), atol=1e-4, rtol=0)
    covariance = read.T @ read / len(read)
    torch.testing.assert_close(covariance - torch.diag(covariance.diag()), torch.zeros(12, 12), atol=1e-3, rtol=0)
    torch.testing.assert_close(covariance.diag()[:6], torch.ones(6), atol=0.02, rtol=0)


def test_whitening_against_numpy(dinov2: Path) -> None:
    encoder = head(dinov2, components=5)
    cells = drawn_cells(300, 6 * WIDTH)
    encoder.fit_whitening(cells)
    centred = cells.double().numpy() - cells.double().numpy().mean(0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    variances, axes = variances[::-1][:5], axes[:, ::-1][:, :5]
    expected = centred @ axes / np.sqrt(variances + SMALLEST_VARIANCE * variances[0])
    found = encoder.whitened(cells).numpy()
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=5e-3)  # the sign of an axis is free


def test_fewer_frames_than_components_leave_the_others_zero(dinov2: Path) -> None:
    encoder = head(dinov2, components=12)
    before = torch.get_rng_state()
    encoder.fit_whitening(drawn_cells(5, 6 * WIDTH))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.isfinite(encoder.whitening).all()
    assert not encoder.whitening[:, 5:].any()


@pytest.mark.parametrize("count", [1, 10])
def test_cells_that_never_vary_are_finite(dinov2: Path, count: int) -> None:
    encoder = head(dinov2, feature_dim=12, kept=3)
    cells = torch.ones(count, 6 * WIDTH)
    encoder.fit_whitening(cells)
    assert torch.isfinite(encoder.from_cells(cells)).all()


def test_the_branches_do_not_mix(dinov2: Path) -> None:
    encoder = head(dinov2)
    assert encoder.part_sizes == (2, 4)
    before = encoder.from_cells(drawn_cells(4, 6 * WIDTH))
    with torch.no_grad():
        for parameter in encoder.branches[1].parameters():
            parameter.add_(1.0)
    after = encoder.from_cells(drawn_cells(4, 6 * WIDTH))
    assert torch.equal(after[:, :2], before[:, :2])
    assert not torch.equal(after[:, 2:], before[:, 2:])


def test_what_is_kept_against_numpy(dinov2: Path) -> None:
    """The main components of the mean token: a linear function of the cells, and part of the invariant features."""
    encoder, cells = head(dinov2, kept=3, feature_dim=12), drawn_cells(300, 6 * WIDTH)
    encoder.fit_whitening(cells)
    means = cells.double().numpy().reshape(300, WIDTH, 6).mean(2)
    means -= means.mean(0)
    size = means.std(0)
    scaled = means / (size + LEAST_SIZE * size.mean())
    variances, axes = np.linalg.eigh(scaled.T @ scaled / 300)
    expected = scaled @ axes[:, ::-1][:, :3] / np.sqrt(variances[::-1][:3] + SMALLEST_VARIANCE * variances[-1])
    read = encoder.whitened(cells)[:, encoder.components :]
    np.testing.assert_allclose(np.abs(read.numpy()), np.abs(expected), rtol=2e-2, atol=2e-2)
    features = encoder.from_cells(cells)
    assert encoder.part_sizes == (5, 7)
    torch.testing.assert_close(features[:, 2:5], KEPT_LENGTH * read / read.norm(dim=1, keepdim=True))
    torch.testing.assert_close(features[:, :2].norm(dim=1), torch.ones(300))


def test_training_leaves_out_the_same_components_of_all_frames(dinov2: Path) -> None:
    encoder = head(dinov2, dropout=0.5, noise=0.0, components=12).train()
    same = drawn_cells(1, 6 * WIDTH).expand(4, -1)
    first, second = encoder.from_cells(same), encoder.from_cells(same)
    torch.testing.assert_close(first, first[:1].expand_as(first))
    assert not torch.equal(first, second)


def test_noise_is_of_training_alone(dinov2: Path) -> None:
    encoder, cells = head(dinov2, dropout=0.0), drawn_cells(4, 6 * WIDTH)
    assert torch.equal(encoder.from_cells(cells), encoder.from_cells(cells))
    encoder.train()
    assert not torch.equal(encoder.from_cells(cells), encoder.from_cells(cells))
    assert not any(module.training for module in encoder.backbone.modules())


def test_a_network_takes_cells_and_pictures_alike(dinov2: Path) -> None:
    settings = {"backbone": str(dinov2), "size": "28x42", "feature_dim": 6, "kept": 0}
    spec = NetSpec("backbone", (12, 12, 3), encoder_settings=settings, parts={"invariant": 3, "equivariant": 3})
    net = EgoNet(spec).eval()
    initialise(net, torch.Generator().manual_seed(0))
    images = torch.randint(256, (5, 12, 12, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert isinstance(net.encoder, BackboneHead)
    with torch.no_grad():
        cells = net.encoder.backbone(images.permute(0, 3, 1, 2) / 255)
        torch.testing.assert_close(net(cells.half()), net(images), atol=2e-3, rtol=0)
        lengths = net(images).view(5, 2, 3).norm(dim=2)
    torch.testing.assert_close(lengths, torch.ones(5, 2))


def test_weights_are_drawn_again_and_the_backbone_keeps_its_own(dinov2: Path) -> None:
    encoder = head(dinov2)
    weight = encoder.backbone.module.encoder.layer[1].mlp.fc1.weight
    before, kept = encoder.branches[0][0].weight.clone(), weight.clone()
    encoder.draw_weights(torch.Generator().manual_seed(0))
    first = encoder.branches[0][0].weight.clone()
    encoder.draw_weights(torch.Generator().manual_seed(0))
    assert torch.equal(encoder.branches[0][0].weight, first)
    assert not torch.equal(first, before)
    assert torch.equal(weight, kept)


def test_only_the_last_blocks_are_trained(dinov2: Path) -> None:
    encoder = head(dinov2, fine_tune=1)
    trained = {name for name, parameter in encoder.backbone.named_parameters() if parameter.requires_grad}
    assert trained
    assert all(name.startswith("module.encoder.layer.1.") for name in trained)
    assert encoder.variants == 0
    assert not any(parameter.requires_grad for parameter in head(dinov2).backbone.parameters())


def test_what_is_found_is_recorded_and_other_weights_are_noticed(dinov2: Path) -> None:
    found = head(dinov2, grid=None).found_settings
    assert found == {
        "backbone": str(dinov2),
        "layer": "output",
        "size": "28x42",
        "grid": "2x3",
        "digest": head(dinov2).backbone.digest,
        "hidden": 8,
        "feature_dim": 6,
        "components": 256,
        "kept": 0,
    }
    head(dinov2, **{key: value for key, value in found.items() if key != "backbone"})
    with pytest.raises(ConfigError, match=r"has other weights than when the run was trained .*: put those back"):
        head(dinov2, digest="0" * 16)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"feature_dim": 1}, "encoder.feature_dim=1 cannot be divided into two parts"),
        ({"size": "28by42"}, "encoder.size='28by42': expected two numbers such as 3x8"),
        ({"grid": "3x0"}, "encoder.grid='3x0': expected two numbers such as 3x8"),
        ({"fine_tune": 3}, "fine_tune=3: backbone transformers Dinov2Model has 2 blocks"),
    ],
)
def test_wrong_settings_are_one_line(settings: dict[str, Any], words: str, dinov2: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        head(dinov2, **settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
