"""Why a message was not sent, or not yet: a closed list, with a sentence for each side (NOT-6)."""

from enum import StrEnum


class Reason(StrEnum):
    """Reason code of a delivery."""

    NOT_IN_AUDIENCE = "not_in_audience"
    MEMBERSHIP_ENDED = "membership_ended"
    ACCOUNT_DISABLED = "account_disabled"
    RECIPIENT_NOT_PERMITTED = "recipient_not_permitted"
    TOPIC_OFF = "topic_off"
    ORGANIZATION_DEFAULT_OFF = "organization_default_off"
    NO_ADDRESS = "no_address"
    ADDRESS_INVALID = "address_invalid"
    ADDRESS_SUPPRESSED_BOUNCE = "address_suppressed_bounce"
    DUPLICATE = "duplicate"
    QUIET_HOURS = "quiet_hours"
    EXPIRED = "expired"
    DEADLINE_PASSED = "deadline_passed"
    REQUEST_CANCELLED = "request_cancelled"
    ANCHOR_WITHDRAWN = "anchor_withdrawn"
    SUPERSEDED = "superseded"
    TEMPLATE_NOT_APPROVED = "template_not_approved"
    CHANNEL_NOT_CONFIGURED = "channel_not_configured"
    PROVIDER_REJECTED = "provider_rejected"
    PROVIDER_UNREACHABLE = "provider_unreachable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    REQUESTER_NOT_ALLOWED = "requester_not_allowed"
    TOO_MANY_MESSAGES = "too_many_messages"
    SANDBOX_CAPTURED = "sandbox_captured"


# For the person, and for whoever sent it.
SENTENCES: dict[Reason, tuple[str, str]] = {
    Reason.NOT_IN_AUDIENCE: (
        "The message was not addressed to you.",
        "The person is not in the audience.",
    ),
    Reason.MEMBERSHIP_ENDED: (
        "You are no longer a member of this organization.",
        "The person is no longer a member of the organization.",
    ),
    Reason.ACCOUNT_DISABLED: (
        "Your account is disabled.",
        "The person's account is disabled.",
    ),
    Reason.RECIPIENT_NOT_PERMITTED: (
        "You do not have the permission that this topic requires.",
        "The person does not have the permission that this topic requires.",
    ),
    Reason.TOPIC_OFF: (
        "You switched this topic or channel off.",
        "The person switched this topic or channel off.",
    ),
    Reason.ORGANIZATION_DEFAULT_OFF: (
        "Your organization switched this topic or channel off.",
        "The organization switched this topic or channel off.",
    ),
    Reason.NO_ADDRESS: (
        "We do not have your address for this channel.",
        "The person has no address for this channel.",
    ),
    Reason.ADDRESS_INVALID: (
        "Your address cannot receive messages. Check it in your profile.",
        "The person's address cannot receive messages.",
    ),
    Reason.ADDRESS_SUPPRESSED_BOUNCE: (
        "An earlier message to your address bounced. Check the address in your profile.",
        "An earlier message to this address bounced.",
    ),
    Reason.DUPLICATE: (
        "You already received this message.",
        "The person already received this message.",
    ),
    Reason.QUIET_HOURS: (
        "The message is held until your quiet hours end.",
        "The message is held until the person's quiet hours end.",
    ),
    Reason.EXPIRED: (
        "The message expired before it could be sent.",
        "The message expired before it could be sent.",
    ),
    Reason.DEADLINE_PASSED: (
        "The deadline had passed before the message could be sent.",
        "The deadline had passed before the message could be sent.",
    ),
    Reason.REQUEST_CANCELLED: (
        "The sender cancelled the message.",
        "The request was cancelled.",
    ),
    Reason.ANCHOR_WITHDRAWN: (
        "The deadline no longer exists.",
        "The deadline of the reminder was withdrawn.",
    ),
    Reason.SUPERSEDED: (
        "A newer message replaced this one.",
        "A newer message replaced this one.",
    ),
    Reason.TEMPLATE_NOT_APPROVED: (
        "The text of the message was not approved.",
        "The template has no approved version.",
    ),
    Reason.CHANNEL_NOT_CONFIGURED: (
        "This channel is not available at the moment.",
        "No provider is configured for this channel.",
    ),
    Reason.PROVIDER_REJECTED: (
        "The provider refused the message.",
        "The provider refused the message.",
    ),
    Reason.PROVIDER_UNREACHABLE: (
        "The provider could not be reached.",
        "The provider could not be reached, and no attempts are left.",
    ),
    Reason.OUTCOME_UNKNOWN: (
        "We do not know whether the message arrived.",
        "The provider did not confirm the message. It may have arrived.",
    ),
    Reason.REQUESTER_NOT_ALLOWED: (
        "The sender of this scheduled message is no longer allowed to send it.",
        "The sender of this scheduled message is no longer allowed to send it.",
    ),
    Reason.TOO_MANY_MESSAGES: (
        "You received too many messages in a short time.",
        "The recipient received too many messages in a short time.",
    ),
    Reason.SANDBOX_CAPTURED: (
        "Sandbox organizations do not send messages to the outside.",
        "Sandbox organizations do not send messages to the outside.",
    ),
}
