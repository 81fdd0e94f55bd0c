"""Dates of tenders and documents that move: reminders follow them, and people hear of it (NOT-39).

The dates of a shared tender concern every organization that has a reminder on it.
"""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.compliance import public as compliance
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.reactions.opportunity import closing_text
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.reminders import AnchorKind, News
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.values.calendar import HOME_ZONE, local_midnight
from thenga.kernel.values.references import Reference


@reactions.on_type(opportunity.TenderOpportunityAmended.type)
async def follow_amendment(work: Work, envelope: Envelope) -> None:
    """Reminders follow the closing; a material amendment is told to those who have one."""
    event = opportunity.TenderOpportunityAmended.model_validate(envelope.data)
    if event.closing_at is None and event.previous_closing_at is None:
        return  # there is no deadline to follow
    news = News(
        topic_code="opportunity.amended",
        key=f"amendment {event.tender_opportunity_id} {event.amendment_number}",
        facts={
            "tender": event.label,
            "number": event.tender_number,
            "change": _change(event),
            "closingAt": closing_text(event.closing_at),
        },
    )
    _follow(
        work,
        _tender(event.tender_opportunity_id),
        "closing",
        due_at=event.closing_at,
        time_zone=event.time_zone,
        sequence=envelope.sequence or 0,
        news=news if event.material else None,
    )


@reactions.on_type(opportunity.TenderOpportunityClosed.type)
async def withdraw_closing(work: Work, envelope: Envelope) -> None:
    """A tender that was cancelled, withdrawn or replaced has no closing to be reminded of."""
    event = opportunity.TenderOpportunityClosed.model_validate(envelope.data)
    if event.reason != "closing_time":
        _follow(
            work,
            _tender(event.tender_opportunity_id),
            "closing",
            due_at=None,
            time_zone=event.time_zone,
            sequence=envelope.sequence or 0,
        )


@reactions.on_type(opportunity.TenderOpportunityAwarded.type)
async def tell_of_award(work: Work, envelope: Envelope) -> None:
    """The award of a tender is told to those who had a reminder on it."""
    event = opportunity.TenderOpportunityAwarded.model_validate(envelope.data)
    if event.closing_at is None:
        return  # nobody has a reminder on it
    _follow(
        work,
        _tender(event.tender_opportunity_id),
        "closing",
        due_at=event.closing_at,
        time_zone=event.time_zone,
        sequence=envelope.sequence or 0,
        news=News(
            topic_code="opportunity.awarded",
            key=f"award {event.tender_opportunity_id} {envelope.id}",
            facts={"tender": event.label, "number": event.tender_number},
        ),
    )


@reactions.on_type(opportunity.DeadlineChanged.type)
async def follow_deadline_of_tender(work: Work, envelope: Envelope) -> None:
    """Reminders follow a deadline that moved; one that was withdrawn ends them."""
    event = opportunity.DeadlineChanged.model_validate(envelope.data)
    is_new = event.previous_due_at is None and event.state != "withdrawn"
    if is_new and event.organization_id is None:
        return  # nobody can have a reminder on it yet
    _follow(
        work,
        Reference(domain="opportunity", type="deadline", id=event.deadline_id),
        "deadline",
        due_at=None if event.state == "withdrawn" else event.due_at,
        time_zone=event.time_zone,
        sequence=envelope.sequence or 0,
    )


@reactions.on_type(opportunity.BriefingScheduled.type)
async def follow_briefing(work: Work, envelope: Envelope) -> None:
    """A briefing that is scheduled, moved or cancelled is told to those with a reminder."""
    event = opportunity.BriefingScheduled.model_validate(envelope.data)
    _follow(
        work,
        Reference(domain="opportunity", type="briefing", id=event.briefing_id),
        "briefing",
        due_at=None if event.state == "cancelled" else event.starts_at,
        time_zone=event.time_zone,
        sequence=envelope.sequence or 0,
        tender_id=event.tender_opportunity_id,
        news=News(
            topic_code="opportunity.briefing_scheduled",
            key=f"briefing {event.briefing_id} {envelope.sequence}",
            facts={
                "tender": event.label,
                "briefing": _briefing(event),
                "startsAt": event.starts_at.isoformat(),
            },
        ),
    )


@reactions.on_type(compliance.DocumentUploaded.type)
async def follow_new_version(work: Work, envelope: Envelope) -> None:
    """Reminders on the expiry of a document follow its newest version."""
    event = compliance.DocumentUploaded.model_validate(envelope.data)
    await _follow_expiry(work, event, envelope)


@reactions.on_type(compliance.DocumentChanged.type)
async def follow_changed_expiry(work: Work, envelope: Envelope) -> None:
    """Reminders on the expiry of a document follow what is stated of it."""
    event = compliance.DocumentChanged.model_validate(envelope.data)
    await _follow_expiry(work, event, envelope)


async def _follow_expiry(
    work: Work, event: compliance.DocumentUploaded | compliance.DocumentChanged, envelope: Envelope
) -> None:
    reference = Reference(domain="compliance", type="document", id=event.document_id)
    due_at: datetime | None = None
    if event.valid_until is not None:
        due_at = local_midnight(event.valid_until + timedelta(days=1), HOME_ZONE)
    await reminders.follow(
        work,
        reference,
        "expiry",
        due_at=due_at,
        time_zone=HOME_ZONE,
        sequence=envelope.sequence or 0,
    )


def _follow(
    work: Work,
    reference: Reference,
    kind: AnchorKind,
    *,
    due_at: datetime | None,
    time_zone: str,
    sequence: int,
    tender_id: UUID | None = None,
    news: News | None = None,
) -> None:
    """Have one organization follow a date of its own, or all that follow a shared one."""
    everywhere = not work.has_organization
    work.enqueue(
        reminders.follow_everywhere if everywhere else reminders.follow_date,
        reference_key=reminders.key_of(reference),
        kind=kind,
        due_at=due_at,
        time_zone=time_zone,
        sequence=sequence,
        beside_key=None if tender_id is None else reminders.key_of(_tender(tender_id)),
        news=None if news is None else news.to_text(),
    )


def _tender(tender_id: UUID) -> Reference:
    return Reference(domain="opportunity", type="tenderOpportunity", id=tender_id)


def _change(event: opportunity.TenderOpportunityAmended) -> str:
    """What an amendment changed, in words."""
    before, after = event.previous_closing_at, event.closing_at
    parts = []
    if before is not None and after is not None and before != after:
        parts.append(f"it closes {'earlier' if after < before else 'later'} than before")
    others = sum(1 for one in event.changes if not one.path.startswith("/closing"))
    if others:
        parts.append(f"{others} other fields changed" if others > 1 else "another field changed")
    return " and ".join(parts) or "the buyer published an amendment"


def _briefing(event: opportunity.BriefingScheduled) -> str:
    """Which briefing it is and what became of it, in words."""
    kind = {"meeting": "briefing", "site_visit": "site visit", "online": "online briefing"}
    name = f"{'compulsory ' if event.compulsory else ''}{kind[event.kind]}"
    if event.state == "cancelled":
        return f"{name} was cancelled"
    return f"{name} {'moved' if event.previous_starts_at is not None else 'is scheduled'}"
