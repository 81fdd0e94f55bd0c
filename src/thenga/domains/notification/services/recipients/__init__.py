"""Recipients: who is told, by which channel and when (NOT-1, NOT-4 to 10)."""

from thenga.domains.notification.services.recipients.addresses import fingerprint, mask
from thenga.domains.notification.services.recipients.audience import (
    MOST_AT_ONCE,
    Asking,
    AudienceEmpty,
    ask_people,
    audience,
    empty_audience,
)
from thenga.domains.notification.services.recipients.persons import (
    Person,
    address_fingerprint,
    departed,
    load_persons,
    stranger,
    to_json,
    verdicts,
)
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
from thenga.domains.notification.services.recipients.quiet_hours import (
    QuietHours,
    held_until,
    release_at,
)
from thenga.domains.notification.services.recipients.reasons import SENTENCES, Reason
from thenga.domains.notification.services.recipients.suppressions import suppressed_among

__all__ = [
    "CHANNELS",
    "MOST_AT_ONCE",
    "SENTENCES",
    "Asking",
    "AudienceEmpty",
    "Candidate",
    "Decision",
    "Effective",
    "Person",
    "QuietHours",
    "Reason",
    "Stored",
    "Switch",
    "Verdict",
    "address_fingerprint",
    "ask_people",
    "audience",
    "decide",
    "departed",
    "effective",
    "empty_audience",
    "fingerprint",
    "held_until",
    "load_persons",
    "mask",
    "minimum_channel",
    "preference_id",
    "release_at",
    "stranger",
    "suppressed_among",
    "to_json",
    "verdicts",
]
