"""Recipients: who is told, by which channel and when (NOT-1, NOT-4 to 10)."""

from thenga.domains.notification.services.recipients.addresses import (
    address_fingerprint,
    fingerprint,
    mask,
    suppressed_among,
)
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
from thenga.domains.notification.services.recipients.preview import (
    PreviewedPerson,
    preview,
)
from thenga.domains.notification.services.recipients.quiet_hours import (
    QuietHours,
    held_until,
    release_at,
)
from thenga.domains.notification.services.recipients.reasons import SENTENCES, Reason
from thenga.domains.notification.services.recipients.stored_preferences import (
    GENERAL,
    MinimumChannel,
    Scope,
    ShownPreference,
    Wanted,
    list_preferences,
    replace_preference,
)

__all__ = [
    "CHANNELS",
    "GENERAL",
    "MOST_AT_ONCE",
    "SENTENCES",
    "Asking",
    "AudienceEmpty",
    "Candidate",
    "Decision",
    "Effective",
    "MinimumChannel",
    "Person",
    "PreviewedPerson",
    "QuietHours",
    "Reason",
    "Scope",
    "ShownPreference",
    "Stored",
    "Switch",
    "Verdict",
    "Wanted",
    "address_fingerprint",
    "ask_people",
    "audience",
    "decide",
    "departed",
    "effective",
    "empty_audience",
    "fingerprint",
    "held_until",
    "list_preferences",
    "load_persons",
    "mask",
    "minimum_channel",
    "preference_id",
    "preview",
    "release_at",
    "replace_preference",
    "stranger",
    "suppressed_among",
    "to_json",
    "verdicts",
]
