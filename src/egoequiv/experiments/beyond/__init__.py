"""Methods of today beside those of the paper, on splits without leakage: `egoequiv reproduce beyond`."""
