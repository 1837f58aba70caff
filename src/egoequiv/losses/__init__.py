"""The losses a method is made of."""

from egoequiv.losses.classification import Classification
from egoequiv.losses.coming_motion import ComingMotion, PassedMotion
from egoequiv.losses.contrastive import contrastive
from egoequiv.losses.equivariance import Equivariance, Separation, equivariance_loss, separation_loss
from egoequiv.losses.gaussian import Gaussian, MotionPrediction, epps_pulley, gaussian_loss
from egoequiv.losses.light import LightJitter
from egoequiv.losses.motion_contrast import MotionContrast, motion_contrast
from egoequiv.losses.null_motion import NullMotion, null_motion_loss
from egoequiv.losses.place_contrast import PlaceContrast, place_contrast
from egoequiv.losses.reading_motion import MotionReading, motion_error
from egoequiv.losses.recording_contrast import RecordingContrast, clip_contrast
from egoequiv.losses.relative_error import RatioOfMeans, RelativeError, ratio_of_means, relative_error
from egoequiv.losses.slowness import Slowness, slowness_loss
from egoequiv.losses.term import StreamBatch, StreamName, Term
from egoequiv.losses.variance import InvariantVariance, MotionVariance, VarianceViews, vicreg
from egoequiv.losses.view_contrast import ViewContrast, view_contrast
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
        PlaceContrast,
        ComingMotion,
        PassedMotion,
        MotionContrast,
        RelativeError,
        RatioOfMeans,
        NullMotion,
        MotionReading,
        MotionPrediction,
        Gaussian,
        InvariantVariance,
        MotionVariance,
        ViewContrast,
        VarianceViews,
    )
}

__all__ = [
    "LOSSES",
    "Classification",
    "ComingMotion",
    "Equivariance",
    "Gaussian",
    "ImaginedViews",
    "InvariantVariance",
    "LightJitter",
    "MotionContrast",
    "MotionPrediction",
    "MotionReading",
    "MotionVariance",
    "NullMotion",
    "PassedMotion",
    "PlaceContrast",
    "RatioOfMeans",
    "RecordingContrast",
    "RelativeError",
    "Separation",
    "Slowness",
    "StreamBatch",
    "StreamName",
    "Term",
    "VarianceViews",
    "ViewContrast",
    "clip_contrast",
    "contrastive",
    "epps_pulley",
    "equivariance_loss",
    "gaussian_loss",
    "imagined_views",
    "motion_contrast",
    "motion_error",
    "null_motion_loss",
    "place_contrast",
    "ratio_of_means",
    "relative_error",
    "separation_loss",
    "slowness_loss",
    "vicreg",
    "view_contrast",
]
