"""Recipients: who is told, by which channel and when, as pure functions (NOT-1, NOT-4 to 10)."""

from thenga.domains.notification.services.recipients.addresses import fingerprint, mask
from thenga.domains.notification.services.recipients.pipeline import (
    Candidate,
    Decision,
    Verdict,
    decide,
)
from thenga.domains.notification.services.recipients.preferences import (
    CHANNELS,
    Effective,
    Stored,
    Switch,
    effective,
    minimum_channel,
    preference_id,
)
from thenga.domains.notification.services.recipients.quiet_hours import QuietHours, held_until
from thenga.domains.notification.services.recipients.reasons import SENTENCES, Reason
from thenga.domains.notification.services.recipients.suppressions import suppressed_among

__all__ = [
    "CHANNELS",
    "SENTENCES",
    "Candidate",
    "Decision",
    "Effective",
    "QuietHours",
    "Reason",
    "Stored",
    "Switch",
    "Verdict",
    "decide",
    "effective",
    "fingerprint",
    "held_until",
    "mask",
    "minimum_channel",
    "preference_id",
    "suppressed_among",
]
