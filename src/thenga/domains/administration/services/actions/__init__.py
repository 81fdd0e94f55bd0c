"""Actions: the record of what staff did."""

from thenga.domains.administration.services.actions.differences import Differences, differences

__all__ = ["Differences", "differences"]
