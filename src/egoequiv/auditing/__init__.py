"""The equivariance of any vision model, on any store with poses."""

from egoequiv.auditing.loaders import load_audited
from egoequiv.auditing.measure import audit
from egoequiv.auditing.table import AuditTable
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.preprocessing import Preprocessing

__all__ = ["AuditTable", "AuditedModel", "Preprocessing", "audit", "load_audited"]
