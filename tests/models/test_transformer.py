"""The vision transformer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from egoequiv.errors import ConfigError
from egoequiv.models.transformer import AttentionBlock, VisionTransformer, sine_positions


@pytest.mark.parametrize(
    ("shape", "patch", "tokens"),
    [
        ((12, 12, 1), 2, 36),
        ((32, 32, 1), 4, 64),
        ((96, 96, 3), 12, 64),
        ((32, 104, 1), 7, 5 * 15),
        ((94, 310, 1), 21, 5 * 15),
        ((120, 160, 3), 17, 8 * 10),
    ],
)
def test_patches_follow_the_size_of_the_images(shape: tuple[int, int, int], patch: int, tokens: int) -> None:
    encoder = VisionTransformer(shape)
    assert encoder.patches.kernel_size == (patch, patch)
    assert encoder.positions.shape == (tokens, 96)
    assert encoder(torch.zeros(2, shape[2], *shape[:2])).shape == (2, 128)
    assert sum(parameter.numel() for parameter in encoder.parameters()) <= 1_000_000


def test_the_size_of_patches_can_be_given() -> None:
    encoder = VisionTransformer((20, 30, 1), width=8, depth=1, heads=2, patch_px=10, feature_dim=3)
    assert encoder.positions.shape == (6, 8)
    assert encoder(torch.zeros(1, 1, 20, 30)).shape == (1, 3)


@pytest.mark.parametrize(("width", "heads", "better"), [(90, 4, 96), (96, 5, 100), (1, 1, 4)])
def test_a_width_that_heads_cannot_share_is_refused(width: int, heads: int, better: int) -> None:
    with pytest.raises(ConfigError, match=f"width {width} must be .* choose encoder.width={better}$"):
        VisionTransformer((32, 32, 1), width=width, heads=heads)
    VisionTransformer((32, 32, 1), width=better, heads=heads)


def test_images_that_are_too_small_are_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^the vit encoder needs images of 12 pixels a side or more, found 11 x 40"):
        VisionTransformer((11, 40, 1))


def test_a_block_against_the_one_of_torch() -> None:
    torch.manual_seed(0)
    block = AttentionBlock(16, 4)
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.3)
    other = nn.TransformerEncoderLayer(16, 4, 64, 0.0, "gelu", batch_first=True, norm_first=True)
    pairs = [
        (other.self_attn.in_proj_weight, block.query_key_value.weight),
        (other.self_attn.in_proj_bias, block.query_key_value.bias),
    ]
    layers = [
        (other.self_attn.out_proj, block.attended),
        (other.linear1, block.hidden),
        (other.linear2, block.out),
        (other.norm1, block.norm1),
        (other.norm2, block.norm2),
    ]
    pairs += [(getattr(a, name), getattr(b, name)) for a, b in layers for name in ("weight", "bias")]
    with torch.no_grad():
        for theirs, ours in pairs:
            theirs.copy_(ours)
    tokens = torch.randn(3, 10, 16)
    torch.testing.assert_close(block(tokens), other(tokens), rtol=1e-4, atol=1e-5)


def test_tokens_are_patches_in_rows_with_their_positions() -> None:
    encoder = VisionTransformer((12, 14, 2), width=8, depth=1, heads=2, patch_px=4, feature_dim=3)
    seen = []
    encoder.blocks.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    images = torch.randn(1, 2, 12, 14)
    encoder(images)
    padded = np.pad(images[0].numpy(), ((0, 0), (0, 0), (1, 1)))
    weight, bias = (value.detach().numpy() for value in (encoder.patches.weight, encoder.patches.bias))
    for row in range(3):
        for column in range(4):
            patch = padded[:, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            expected = (weight * patch).sum(axis=(1, 2, 3)) + bias + encoder.positions[4 * row + column].numpy()
            np.testing.assert_allclose(seen[0][0, 4 * row + column].detach().numpy(), expected, atol=1e-4)


def test_positions_by_hand() -> None:
    places = sine_positions(2, 3, 8)
    row, column = 1, 2
    waves = np.array([1.0, 1e-4])
    expected = np.concatenate(
        [np.sin(row * waves), np.cos(row * waves), np.sin(column * waves), np.cos(column * waves)]
    )
    np.testing.assert_allclose(places[row * 3 + column].numpy(), expected, rtol=1e-5)
    assert len(torch.unique(places, dim=0)) == 6
