"""The losses a method is made of."""

from egoequiv.losses.classification import Classification
from egoequiv.losses.contrastive import contrastive
from egoequiv.losses.equivariance import Equivariance, Separation, equivariance_loss, separation_loss
from egoequiv.losses.light import LightJitter
from egoequiv.losses.motion_contrast import MotionContrast, motion_contrast
from egoequiv.losses.recording_contrast import RecordingContrast, clip_contrast
from egoequiv.losses.relative_error import RelativeError, relative_error
from egoequiv.losses.slowness import Slowness, slowness_loss
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.losses.views import ImaginedViews, imagined_views

# The built-in losses by the names that settings and sums of losses know them by.
LOSSES: dict[str, type[Term]] = {
    term.name: term
    for term in (
        Classification,
        Equivariance,
        Separation,
        Slowness,
        ImaginedViews,
        RecordingContrast,
        MotionContrast,
        RelativeError,
    )
}

__all__ = [
    "LOSSES",
    "Classification",
    "Equivariance",
    "ImaginedViews",
    "LightJitter",
    "MotionContrast",
    "RecordingContrast",
    "RelativeError",
    "Separation",
    "Slowness",
    "StreamBatch",
    "StreamName",
    "Term",
    "clip_contrast",
    "contrastive",
    "equivariance_loss",
    "imagined_views",
    "motion_contrast",
    "relative_error",
    "separation_loss",
    "slowness_loss",
]
