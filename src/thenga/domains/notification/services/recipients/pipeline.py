"""Whether a message goes to one person on one channel: pure steps that each leave a decision.

The steps run when a delivery is planned and again when it is sent; the later answer counts
(NOT-1). What the steps need is looked up before, so that a preview gives the same answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from thenga.domains.notification.services.recipients.preferences import Effective
from thenga.domains.notification.services.recipients.quiet_hours import QuietHours, held_until
from thenga.domains.notification.services.recipients.reasons import Reason
from thenga.domains.notification.services.templates import ChannelKind, Topic

Outcome = Literal["pass", "hold", "stop", "change"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A person, a channel, and everything that the steps ask about."""

    topic: Topic
    channel: ChannelKind
    at: datetime
    preference: Effective
    is_member: bool = True
    is_disabled: bool = False
    is_permitted: bool = True
    address: str | None = None
    is_suppressed: bool = False
    is_approved: bool = True
    is_configured: bool = True
    quiet_hours: QuietHours = field(default_factory=QuietHours)
    deadline_at: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of one step."""

    step: str
    outcome: Outcome
    reason: Reason | None = None
    rule: str | None = None
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens with a message, and the steps that decided it."""

    verdict: Literal["send", "hold", "stop"]
    reason: Reason | None
    held_until: datetime | None
    decisions: tuple[Decision, ...]


Step = Callable[[Candidate], Decision | None]


def decide(candidate: Candidate) -> Verdict:
    """Run the steps in order; the first stop ends it, a hold waits for the later steps."""
    decisions: list[Decision] = []
    hold: Decision | None = None
    for name, step in STEPS:
        found = step(candidate) or Decision(name, "pass")
        decisions.append(found)
        if found.outcome == "stop":
            return Verdict("stop", found.reason, None, tuple(decisions))
        if found.outcome == "hold":
            hold = found
    if hold is not None:
        return Verdict("hold", hold.reason, hold.held_until, tuple(decisions))
    return Verdict("send", None, None, tuple(decisions))


def _membership(one: Candidate) -> Decision | None:
    if one.topic.reaches_leavers:
        return Decision("membership", "pass", rule="NOT-3")
    if not one.is_member:
        return Decision("membership", "stop", Reason.MEMBERSHIP_ENDED, "NOT-4")
    if one.is_disabled:
        return Decision("membership", "stop", Reason.ACCOUNT_DISABLED, "NOT-4")
    return None


def _permission(one: Candidate) -> Decision | None:
    if not one.is_permitted:
        return Decision("permission", "stop", Reason.RECIPIENT_NOT_PERMITTED, "NOT-1")
    return None


def _expiry(one: Candidate) -> Decision | None:
    if one.expires_at is not None and one.expires_at <= one.at:
        return Decision("topic", "stop", Reason.EXPIRED)
    if one.deadline_at is not None and one.deadline_at <= one.at:
        return Decision("topic", "stop", Reason.DEADLINE_PASSED)
    return None


def _preference(one: Candidate) -> Decision | None:
    if one.preference.value == "on":
        return Decision("preference", "pass", rule=one.preference.rule)
    by_organization = one.preference.source == "organization"
    reason = Reason.ORGANIZATION_DEFAULT_OFF if by_organization else Reason.TOPIC_OFF
    return Decision("preference", "stop", reason, "NOT-8")


def _address(one: Candidate) -> Decision | None:
    if one.channel != "in_app" and one.address is None:
        return Decision("address", "stop", Reason.NO_ADDRESS, "NOT-5")
    return None


def _suppression(one: Candidate) -> Decision | None:
    if one.is_suppressed:
        return Decision("suppression", "stop", Reason.ADDRESS_SUPPRESSED_BOUNCE)
    return None


def _quiet_hours(one: Candidate) -> Decision | None:
    if one.topic.category == "security" or not one.topic.quiet_hours_apply:
        return None
    ends = held_until(one.quiet_hours, one.channel, one.at, deadline=one.deadline_at)
    if ends is None:
        return None
    return Decision("quiet_hours", "hold", Reason.QUIET_HOURS, "NOT-10", held_until=ends)


def _template(one: Candidate) -> Decision | None:
    if not one.is_approved:
        return Decision("template", "stop", Reason.TEMPLATE_NOT_APPROVED, "NOT-23")
    return None


def _channel(one: Candidate) -> Decision | None:
    if not one.is_configured:
        return Decision("channel", "stop", Reason.CHANNEL_NOT_CONFIGURED)
    return None


STEPS: tuple[tuple[str, Step], ...] = (
    ("membership", _membership),
    ("permission", _permission),
    ("topic", _expiry),
    ("preference", _preference),
    ("address", _address),
    ("suppression", _suppression),
    ("quiet_hours", _quiet_hours),
    ("template", _template),
    ("channel", _channel),
)
