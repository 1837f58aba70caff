"""Loss terms."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from egoequiv.losses import Classification, Equivariance, Separation, Slowness, StreamBatch, StreamName, Term
from egoequiv.methods import Method
from egoequiv.models import EgoNet
from losses.nets import net_with


@dataclass(frozen=True)
class Smallness(Term):
    """A user's own term: features should be small."""

    name: ClassVar[str] = "smallness"
    stream: ClassVar[StreamName] = "labelled"

    def loss(self, net: EgoNet, batch: StreamBatch) -> Tensor:
        return batch.z_i.abs().mean()


def test_a_term_without_a_loss_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="loss"):
        Term()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("term", "name", "stream"),
    [
        (Classification(), "classification", "labelled"),
        (Equivariance(), "equivariance", "motion"),
        (Separation(), "separation", "motion"),
        (Slowness(), "slowness", "neighbour"),
    ],
)
def test_names_and_streams(term: Term, name: str, stream: str) -> None:
    assert (term.name, term.stream, term.weight) == (name, stream, 1.0)


def test_terms_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Slowness().weight = 2.0  # type: ignore[misc]


def test_a_new_term_is_one_class() -> None:
    method = Method("small", "features near zero", (Smallness(),)).with_settings({"smallness": 0.5}, {})
    (term,) = method.terms
    assert method.streams == ("labelled",)
    assert term.weight == 0.5
    z = torch.tensor([[1.0, -3.0]])
    assert float(term.loss(net_with(), StreamBatch(z, z, torch.tensor([0])))) == 2.0
