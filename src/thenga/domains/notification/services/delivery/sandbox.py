"""Sandbox organizations send nothing outside. Some addresses have a fixed outcome (NOT-49)."""

from thenga.domains.notification.values.messages import Answer

_DELIVERED = Answer("accepted")
_BOUNCED = Answer("refused_final", code="5.1.1", address_is_bad=True)
_DEFERRED = Answer("refused_transient", code="4.2.0")
_UNKNOWN = Answer("unknown")

_OUTCOMES = {
    "delivered@sandbox.test": _DELIVERED,
    "bounce@sandbox.test": _BOUNCED,
    "defer@sandbox.test": _DEFERRED,
    "unknown@sandbox.test": _UNKNOWN,
    "+27000000001": _DELIVERED,
    "+27000000002": _BOUNCED,
    "+27000000003": _DEFERRED,
    "+27000000004": _UNKNOWN,
}


def simulated(address: str) -> Answer | None:
    """The outcome of a test address; None for every other, whose messages are captured."""
    return _OUTCOMES.get(address.lower())
