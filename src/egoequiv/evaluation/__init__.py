"""What features are worth: equivariance, recognition, and the statistics of both."""

from egoequiv.evaluation.equivariance import MotionError, equivariance_error, errors_of_pairs, measure_equivariance
from egoequiv.evaluation.features import class_scores, embed
from egoequiv.evaluation.recognition import class_mean_accuracy, nearest_pixel_accuracy, top_k_accuracy
from egoequiv.evaluation.statistics import PairedTest, Result, bootstrap_mean, paired_test

__all__ = [
    "MotionError",
    "PairedTest",
    "Result",
    "bootstrap_mean",
    "class_mean_accuracy",
    "class_scores",
    "embed",
    "equivariance_error",
    "errors_of_pairs",
    "measure_equivariance",
    "nearest_pixel_accuracy",
    "paired_test",
    "top_k_accuracy",
]
