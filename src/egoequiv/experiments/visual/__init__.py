"""Poses from pictures against the poses of logs: their errors, and features that are trained on either."""
