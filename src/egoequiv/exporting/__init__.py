"""Runs taken along: folders for other programs, models opened from them, and backbones for a user's own training."""

from egoequiv.exporting.backbone import Backbone, load_backbone
from egoequiv.exporting.export import export_run
from egoequiv.exporting.opening import open_export, open_model

__all__ = ["Backbone", "export_run", "load_backbone", "open_export", "open_model"]
