"""Every target of the campaign."""

from fuzz.cases import COMMAND_TARGETS
from fuzz.log_cases import LOG_TARGETS

TARGETS = [*COMMAND_TARGETS, *LOG_TARGETS]
