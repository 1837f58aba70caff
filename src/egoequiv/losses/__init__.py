"""The losses a method is made of."""

from egoequiv.losses.classification import Classification
from egoequiv.losses.contrastive import contrastive
from egoequiv.losses.equivariance import Equivariance, Separation, equivariance_loss, separation_loss
from egoequiv.losses.slowness import Slowness, slowness_loss
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.losses.views import ImaginedViews, imagined_views

# The built-in losses by the names that settings and sums of losses know them by.
LOSSES: dict[str, type[Term]] = {
    term.name: term for term in (Classification, Equivariance, Separation, Slowness, ImaginedViews)
}

__all__ = [
    "LOSSES",
    "Classification",
    "Equivariance",
    "ImaginedViews",
    "Separation",
    "Slowness",
    "StreamBatch",
    "StreamName",
    "Term",
    "contrastive",
    "equivariance_loss",
    "imagined_views",
    "separation_loss",
    "slowness_loss",
]
