"""Encoders, equivariance maps, the network made of them, and its checkpoints."""

from egoequiv.models.checkpoint import load_model
from egoequiv.models.encoders import ENCODERS, Encoder
from egoequiv.models.maps import EquivarianceMaps
from egoequiv.models.network import EgoNet, NetSpec, initialise

__all__ = ["ENCODERS", "EgoNet", "Encoder", "EquivarianceMaps", "NetSpec", "initialise", "load_model"]
