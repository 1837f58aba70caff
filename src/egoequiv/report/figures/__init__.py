"""Every figure once: functions that return a matplotlib Figure, which is saved as PNG or set on the page."""
