"""Marketplace: decisions about listings, quote requests received, and answers of support."""

from datetime import datetime

from thenga.domains.marketplace import public as marketplace
from thenga.domains.notification.public import Target
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.reactions.notifying import notify
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference

PROVIDERS = Target(kind="permission", permission="marketplace:listing:update")
QUOTERS = Target(kind="permission", permission="supplier:supplier:update")
REPORTERS = Target(kind="permission", permission="marketplace:support_request:update")

_DECISIONS = {
    "publish": "It is published",
    "confirm": "The new version is published",
    "request_changes": "Changes are requested",
    "reject": "It is rejected",
    "decline": "The new version is declined",
    "suspend": "It is suspended",
    "reinstate": "It is published again",
}
_KINDS = {
    "report_listing": "your report on a listing",
    "report_provider": "your report on a provider",
    "appeal_moderation": "your appeal against a decision",
    "quote_problem": "your problem with a quote",
}
_OUTCOMES = {
    "upheld": "It is upheld",
    "rejected": "It is rejected",
    "answered": "It is answered",
}

QuoteRequestEvent = marketplace.QuoteRequested | marketplace.QuoteRequestChanged


@reactions.on(marketplace.ListingModerated)
async def notify_of_moderation(work: Work, event: marketplace.ListingModerated) -> None:
    """A moderator decided about a listing; those who write listings get the reason codes."""
    reasons = ", ".join(code.replace("_", " ") for code in event.reason_codes)
    await notify(
        work,
        "marketplace.listing_moderated",
        {
            "listing": event.label,
            "decision": _DECISIONS.get(event.decision, "It is decided"),
            "reasons": reasons or "none",
        },
        [PROVIDERS],
        Reference(domain="marketplace", type="listing", id=event.listing_id),
    )


@reactions.on(marketplace.SupportRequestResolved)
async def notify_of_resolution(work: Work, event: marketplace.SupportRequestResolved) -> None:
    """Staff answered a support request; the answer itself is read in Marketplace."""
    if event.reporter_organization_id != work.organization_id:
        return  # the operator's copy
    await notify(
        work,
        "marketplace.support_request_resolved",
        {
            "subject": _KINDS.get(event.kind, "your request"),
            "outcome": _OUTCOMES.get(event.outcome, "It is resolved"),
        },
        [REPORTERS],
        Reference(domain="marketplace", type="supportRequest", id=event.support_request_id),
    )


@reactions.on(marketplace.QuoteRequested)
async def notify_of_quote_request(work: Work, event: marketplace.QuoteRequested) -> None:
    """A customer asked this supplier; those who look after its supplier profile can answer."""
    await _notify_provider(
        work,
        event,
        "marketplace.quote_requested",
        {"request": event.label, "dueAt": event.due_at.isoformat()},
        deadline_at=event.due_at,
    )


@reactions.on(marketplace.QuoteRequestChanged)
async def notify_of_quote_request_change(
    work: Work, event: marketplace.QuoteRequestChanged
) -> None:
    """The customer moved the deadline or cancelled; other changes concern the customer alone."""
    if event.change == "extended":
        await _notify_provider(
            work,
            event,
            "marketplace.quote_request_extended",
            {"request": event.label, "dueAt": event.due_at.isoformat()},
            deadline_at=event.due_at,
        )
    elif event.change == "cancelled":
        await _notify_provider(
            work, event, "marketplace.quote_request_cancelled", {"request": event.label}
        )


async def _notify_provider(
    work: Work,
    event: QuoteRequestEvent,
    topic_code: str,
    facts: dict[str, str],
    *,
    deadline_at: datetime | None = None,
) -> None:
    """The customer's copy of the event notifies nobody."""
    if event.provider_organization_id != work.organization_id:
        return
    about = Reference(domain="marketplace", type="quoteRequest", id=event.quote_request_id)
    await notify(work, topic_code, facts, [QUOTERS], about, deadline_at=deadline_at)
