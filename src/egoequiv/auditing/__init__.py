"""The equivariance of any vision model, on any store with poses."""

from egoequiv.auditing.audited import AuditedModel
from egoequiv.auditing.loaders import load_audited
from egoequiv.auditing.measure import audit
from egoequiv.auditing.preprocessing import Preprocessing
from egoequiv.auditing.table import AuditTable

__all__ = ["AuditTable", "AuditedModel", "Preprocessing", "audit", "load_audited"]
