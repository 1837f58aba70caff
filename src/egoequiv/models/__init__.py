"""Encoders, equivariance maps, the network made of them, and its checkpoints."""

from egoequiv.models.checkpoint import load_model
from egoequiv.models.encoder import Encoder
from egoequiv.models.encoders import ENCODERS, build_encoder, get_encoder
from egoequiv.models.maps import EquivarianceMaps
from egoequiv.models.network import EgoNet, Heads, NetSpec, initialise
from egoequiv.models.stacked import StackedNet, can_stack

__all__ = [
    "ENCODERS",
    "EgoNet",
    "Encoder",
    "EquivarianceMaps",
    "Heads",
    "NetSpec",
    "StackedNet",
    "build_encoder",
    "can_stack",
    "get_encoder",
    "initialise",
    "load_model",
]
