"""What features are worth: equivariance, recognition, and the statistics of both."""

from egoequiv.evaluation.equivariance import equivariance_error, errors_of_pairs, measure_equivariance
from egoequiv.evaluation.features import class_scores, embed
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.recognition import class_mean_accuracy, nearest_pixel_accuracy, top_k_accuracy
from egoequiv.evaluation.statistics import Result, group_interval, paired_test, why_no_interval
from egoequiv.evaluation.task import Finding, Task, TaskData, TaskOptions

__all__ = [
    "Finding",
    "Metric",
    "Result",
    "Task",
    "TaskData",
    "TaskOptions",
    "Value",
    "class_mean_accuracy",
    "class_scores",
    "embed",
    "equivariance_error",
    "errors_of_pairs",
    "group_interval",
    "measure_equivariance",
    "nearest_pixel_accuracy",
    "paired_test",
    "top_k_accuracy",
    "why_no_interval",
]
