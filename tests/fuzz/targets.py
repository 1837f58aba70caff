"""Every target of the campaign."""

from fuzz.cases import COMMAND_TARGETS
from fuzz.log_cases import LOG_TARGETS
from fuzz.model_cases import MODEL_TARGETS

TARGETS = [*COMMAND_TARGETS, *LOG_TARGETS, *MODEL_TARGETS]
