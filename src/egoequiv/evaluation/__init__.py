"""What features are worth: equivariance, recognition, and the statistics of both."""

from egoequiv.evaluation.analogy import complete_analogies
from egoequiv.evaluation.equivariance import MotionError, equivariance_error, errors_of_pairs, measure_equivariance
from egoequiv.evaluation.features import class_scores, embed
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.prediction import predict_views
from egoequiv.evaluation.ranking import RankedResult
from egoequiv.evaluation.readout import ReadOutResult, read_features
from egoequiv.evaluation.recognition import class_mean_accuracy, nearest_pixel_accuracy, top_k_accuracy
from egoequiv.evaluation.retrieval import RetrievalResult, retrieve_pairs
from egoequiv.evaluation.statistics import PairedTest, Result, group_interval, paired_test, why_no_interval
from egoequiv.evaluation.task import Finding, Task, TaskData, TaskOptions

__all__ = [
    "Finding",
    "FrameFeatures",
    "Measurement",
    "Metric",
    "MotionError",
    "PairedTest",
    "RankedResult",
    "ReadOutResult",
    "Result",
    "RetrievalResult",
    "Task",
    "TaskData",
    "TaskOptions",
    "Value",
    "class_mean_accuracy",
    "class_scores",
    "complete_analogies",
    "embed",
    "equivariance_error",
    "errors_of_pairs",
    "group_interval",
    "measure_equivariance",
    "nearest_pixel_accuracy",
    "paired_test",
    "predict_views",
    "read_features",
    "retrieve_pairs",
    "top_k_accuracy",
    "why_no_interval",
]
