"""Embedded worlds, rendered in process so that everything runs without a download."""

from egoequiv.worlds.turntable import TurntableRecording, turntable

__all__ = ["TurntableRecording", "turntable"]
