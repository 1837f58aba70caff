"""Backbones: models of others read at some layers, with their layout."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, interpolate

from egoequiv.errors import ConfigError
from egoequiv.models.foreign.backbone import Backbone, Reading, load_model
from egoequiv.models.foreign.cells import as_map, cells_of, usual_grid, usual_size
from tiny_backbones import TINY, WIDTH, write_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of `TINY`."""
    to = tmp_path_factory.mktemp("tiny")
    for name in TINY:
        write_tiny(name, to)
    return to


def images_of(count: int, height: int, width: int, channels: int = 3) -> Tensor:
    return torch.rand(count, channels, height, width, generator=torch.Generator().manual_seed(0))


def reference(folder: Path, images: Tensor, size: tuple[int, int], stride: int, extra: int) -> Tensor:
    """The map of a model of transformers, (B, C, h, w), computed without egoequiv."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    pixels = (interpolate(images, size, mode="bilinear", antialias=True) - 0.5) / 0.5
    more = {"interpolate_pos_encoding": True} if type(model).__name__ == "ViTModel" else {}
    with torch.no_grad():
        given = model(pixel_values=pixels, **more).last_hidden_state
    if given.dim() == 4:
        return given
    rows, columns = size[0] // stride, size[1] // stride
    patches = given[:, extra:]
    assert patches.shape[1] == rows * columns
    # Patches are numbered along rows of the picture.
    maps = torch.zeros(len(images), given.shape[2], rows, columns)
    for number in range(rows * columns):
        maps[:, :, number // columns, number % columns] = patches[:, number]
    return maps


@pytest.mark.parametrize("name", TINY)
def test_tokens_are_the_cells_of_the_picture(name: str, folder: Path) -> None:
    _, stride, extra = TINY[name]
    size, images = (2 * stride, 6 * stride), images_of(3, 20, 50)
    backbone = Backbone(Reading(str(folder / name), size=size, grid=((2, 3),)), (20, 50, 3))
    maps = reference(folder / name, images, size, stride, extra)
    torch.testing.assert_close(backbone(images), adaptive_avg_pool2d(maps, (2, 3)).flatten(1), atol=1e-5, rtol=1e-4)
    whole = Backbone(Reading(str(folder / name), size=size), (20, 50, 3))
    assert (whole.grid, whole.feature_dim) == ("2x6", WIDTH * 12)
    torch.testing.assert_close(whole(images), maps.flatten(1), atol=1e-5, rtol=1e-4)


def test_register_tokens_do_not_matter_to_a_grid_of_one_cell(folder: Path) -> None:
    maps = reference(folder / "dinov3", images_of(2, 32, 32), (32, 32), 16, 5)
    backbone = Backbone(Reading(str(folder / "dinov3"), size=(32, 32), grid=((1, 1),)), (32, 32, 3))
    torch.testing.assert_close(backbone(images_of(2, 32, 32)), maps.mean((2, 3)), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_tokens_by_hand(extra: int) -> None:
    tokens = torch.arange(extra + 6.0)[None, :, None].expand(1, -1, 2)
    expected = torch.tensor([[0.0, 1, 2], [3, 4, 5]]) + extra
    assert torch.equal(as_map(tokens, 28, 42, 14), expected.expand(1, 2, 2, 3))


def test_layers_are_read_together_each_with_its_grid(folder: Path) -> None:
    reading = Reading(str(folder / "dinov2"), "encoder.layer.0+encoder.layer.1", (28, 42), ((2, 3), (1, 2)))
    backbone, images = Backbone(reading, (20, 30, 3)), images_of(2, 20, 30)
    cells = backbone(images)
    parts = []
    for layer, grid in (("encoder.layer.0", (2, 3)), ("encoder.layer.1", (1, 2))):
        parts.append(Backbone(Reading(str(folder / "dinov2"), layer, (28, 42), (grid,)), (20, 30, 3))(images))
    assert cells.shape == (2, WIDTH * (6 + 2))
    assert backbone.grid == "2x3+1x2"
    torch.testing.assert_close(cells, torch.cat(parts, dim=1))


@given(*(st.integers(1, 9) for _ in range(4)), st.integers(0, 999))
def test_cells_are_adaptive_average_pooling(height: int, width: int, rows: int, columns: int, seed: int) -> None:
    maps = torch.randn(2, 3, height, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    grid = (rows, columns)
    if height % rows == 0 and width % columns == 0:  # elsewhere, that pooling lets windows overlap
        torch.testing.assert_close(cells_of(maps, grid), adaptive_avg_pool2d(maps, grid).flatten(1))
    # Every place counts as much as any other: the mean of the cells is that of the map.
    mean = cells_of(maps, grid).view(2, 3, -1).mean(2)
    torch.testing.assert_close(mean, maps.mean((2, 3)))


def test_cells_by_hand() -> None:
    row = torch.tensor([1.0, 2.0, 6.0]).view(1, 1, 1, 3)
    # Of three places in two cells, half of the middle one is in each.
    torch.testing.assert_close(cells_of(row, (1, 2)), torch.tensor([[(1 + 1) / 1.5, (1 + 6) / 1.5]]))
    torch.testing.assert_close(cells_of(row, (1, 6)), torch.tensor([[1.0, 1, 2, 2, 6, 6]]))


def test_gray_images_are_shown_in_three_channels(folder: Path) -> None:
    reading = Reading(str(folder / "dinov2"), size=(28, 28))
    gray = images_of(2, 28, 28, 1)
    found = Backbone(reading, (28, 28, 1))(gray)
    torch.testing.assert_close(found, Backbone(reading, (28, 28, 3))(gray.expand(-1, 3, -1, -1)))


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("dinov2", (30, 40), "a picture of 30 x 40 does not divide into patches of 14: take 28x42"),
        ("dinov3", (30, 50), "a picture of 30 x 50 does not divide into patches of 16: take 32x48"),
    ],
)
def test_a_size_that_patches_do_not_divide_is_one_line(
    name: str, size: tuple[int, int], words: str, folder: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        Backbone(Reading(str(folder / name), size=size), (20, 50, 3))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ({"layer": "encoder.layer.7"}, "'encoder.layer.7' is not known in backbone"),
        ({"layer": "encoder.layer.0+encoder.layer.1", "grid": ((1, 1),) * 3}, "encoder.grid has 3 grids"),
        ({"grid": ((200, 200),)}, "expected at most 65,536: choose a smaller grid"),
    ],
)
def test_what_cannot_be_read_is_one_line(reading: dict[str, object], words: str, folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        Backbone(Reading(str(folder / "dinov2"), **reading), (28, 28, 3))  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("pixels", "is of the kind pixels, which cannot be one"),
        ("/not/there/dinov2", "backbone /not/there/dinov2 does not exist"),
        ("nowhere", "nowhere is no model"),
        ("models.test_backbone:doubled", "it builds a function, whose weights are not known"),
    ],
)
def test_what_is_no_backbone_is_one_line(where: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_model(where)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def doubled() -> object:
    """A model that is a function."""
    return lambda images: 2 * images


def test_the_digest_is_that_of_the_weights(folder: Path, tmp_path: Path) -> None:
    size = {"size": (28, 28)}
    first = Backbone(Reading(str(folder / "dinov2"), **size), (28, 28, 3))
    write_tiny("dinov2", tmp_path)  # the same weights at another place
    again = Backbone(Reading(str(tmp_path / "dinov2"), **size), (28, 28, 3))
    other = Backbone(Reading(str(folder / "dinov2-with-registers"), **size), (28, 28, 3))
    assert first.digest == again.digest != other.digest
    assert first.identity == again.identity


def test_frozen_it_is_not_saved_and_trained_it_is(folder: Path) -> None:
    reading = Reading(str(folder / "dinov2"), size=(28, 28))
    frozen, trained = (Backbone(reading, (28, 28, 3), is_trained) for is_trained in (False, True))
    assert not nn.Sequential(frozen).state_dict()
    nn.Sequential(frozen).load_state_dict({})  # nothing is missing
    assert nn.Sequential(trained).state_dict()
    blocks = trained.last_blocks(1)
    assert blocks == [trained.module.encoder.layer[1]]
    assert not any(module.training for module in nn.Sequential(trained).train()[0].modules())


def test_the_usual_size_and_grid() -> None:
    assert usual_size(375, 1242, 16) == (80, 256)
    assert usual_size(100, 100, 14) == (140, 140)
    assert usual_grid(5, 16, 128) == (5, 16)
    rows, columns = usual_grid(40, 120, 128)
    assert rows * columns <= 128
    assert rows < columns
