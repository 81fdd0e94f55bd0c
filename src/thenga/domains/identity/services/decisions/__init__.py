"""The decision: one statement for the facts, a table of stages, Cedar, a record of every no."""

from thenga.domains.identity.services.decisions._asking import (
    check,
    enter,
    record,
)
from thenga.domains.identity.services.decisions._facts import Facts, look_up
from thenga.domains.identity.services.decisions._stages import Outcome, decide

__all__ = ["Facts", "Outcome", "check", "decide", "enter", "look_up", "record"]
