"""Do the pictures of a log follow its motion? Checks of recordings, one finding each."""

from egoequiv.doctor.finding import Finding, Moment

__all__ = ["Finding", "Moment"]
