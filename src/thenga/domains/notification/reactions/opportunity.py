"""Tenders: companies are told of those that fit, of deadlines that come near, and of judgements."""

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from thenga.domains.notification.public import Target
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.services import reminders, requests
from thenga.domains.notification.services.requests import Asked
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference

READERS = Target(kind="permission", permission="opportunity:match:read")
DECIDERS = Target(kind="permission", permission="opportunity:recommendation:decide")
BOARD = Target(kind="permission", permission="opportunity:saved_opportunity:read")
KEEPERS = Target(kind="permission", permission="opportunity:source:update")
_HEALTH = {"late": "is late", "failing": "fails"}
_ZONE = ZoneInfo("Africa/Johannesburg")
_VERDICTS = {
    "strong_bid": "bid",
    "bid_minor_gaps": "bid, with minor gaps",
    "bid_with_partner": "bid with a partner",
    "high_risk": "high risk",
    "do_not_bid": "do not bid",
    "insufficient_information": "not enough information",
}


@reactions.on(opportunity.OpportunityMatched)
async def tell_of_match(work: Work, event: opportunity.OpportunityMatched) -> None:
    """A match is told to those who read matches, a private watchlist to its owner alone."""
    owners = {one.owner_user_id for one in event.because if one.owner_user_id is not None}
    audience = [Target(kind="users", user_ids=sorted(owners))] if owners else []
    if any(one.owner_user_id is None for one in event.because):
        audience.append(READERS)
    await requests.accept_event(
        work,
        Asked(
            topic_code="opportunity.matched",
            source_domain="opportunity",
            facts={
                "tender": event.label,
                "reason": _reason(event),
                "score": "not known" if event.score is None else str(event.score),
                "closingAt": closing_text(event.closing_at),
            },
            audience=audience,
            about=_about(event.tender_opportunity_id),
            dedupe_key=f"match {event.match_id} {work.origin.causation_id}",
            causation_event_id=_causation(work),
        ),
    )


@reactions.on(opportunity.DeadlineApproaching)
async def tell_of_deadline(work: Work, event: opportunity.DeadlineApproaching) -> None:
    """Those who work with the board are told of a deadline before it passes.

    There is no second message where a reminder of their own tells all of them.
    """
    dates = [Reference(domain="opportunity", type="deadline", id=event.deadline_id)]
    if event.kind == "closing":
        dates.append(_about(event.tender_opportunity_id))
    if await reminders.is_covered(work, dates, BOARD):
        return
    key = f"deadline {event.deadline_id} {event.due_at.isoformat()} {event.threshold}"
    await requests.accept_event(
        work,
        Asked(
            topic_code="opportunity.deadline_approaching",
            source_domain="opportunity",
            facts={"deadline": event.label, "dueAt": event.due_at.isoformat()},
            audience=[BOARD],
            about=_about(event.tender_opportunity_id),
            dedupe_key=key,
            deadline_at=event.due_at,
            causation_event_id=_causation(work),
        ),
    )


@reactions.on(opportunity.SourceHealthChanged)
async def report_unhealthy_source(work: Work, event: opportunity.SourceHealthChanged) -> None:
    """Notify those who keep a source that it is late or fails; for a shared source, staff."""
    if event.to_health not in _HEALTH:
        return
    await requests.accept_event(
        work,
        Asked(
            topic_code="opportunity.source_unhealthy",
            source_domain="opportunity",
            facts={
                "health": _HEALTH[event.to_health],
                "cause": (event.reason or "not known").replace("_", " "),
            },
            audience=[KEEPERS],
            about=Reference(domain="opportunity", type="source", id=event.source_id),
            dedupe_key=f"source {event.source_id} {work.origin.causation_id}",
            causation_event_id=_causation(work),
        ),
    )


@reactions.on(opportunity.QualificationCompleted)
async def tell_of_qualification(work: Work, event: opportunity.QualificationCompleted) -> None:
    """Those who decide whether to bid are told that a tender was qualified."""
    await requests.accept_event(
        work,
        Asked(
            topic_code="opportunity.qualification_completed",
            source_domain="opportunity",
            facts={"verdict": event.verdict.replace("_", " "), "unmet": str(len(event.unmet))},
            audience=[DECIDERS],
            about=_about(event.tender_opportunity_id),
            dedupe_key=f"qualification {event.qualification_id}",
            causation_event_id=_causation(work),
        ),
    )


@reactions.on(opportunity.RecommendationChanged)
async def tell_of_recommendation(work: Work, event: opportunity.RecommendationChanged) -> None:
    """Those who decide are told of a new proposal, everybody who bids of the decision.

    What rests on a match alone is preliminary and told to nobody.
    """
    if event.preliminary:
        return
    is_proposed = event.status == "proposed"
    await requests.accept_event(
        work,
        Asked(
            topic_code="opportunity.recommendation_changed",
            source_domain="opportunity",
            facts={"verdict": _VERDICTS[event.verdict], "status": event.status},
            audience=[DECIDERS if is_proposed else BOARD],
            about=_about(event.tender_opportunity_id),
            dedupe_key=f"recommendation {event.recommendation_id} {work.origin.causation_id}",
            causation_event_id=_causation(work),
        ),
    )


def closing_text(closing_at: datetime | None) -> str:
    """A closing time as people in South Africa write it."""
    if closing_at is None:
        return "not known"
    return f"{closing_at.astimezone(_ZONE):%d %B %Y, %H:%M} SAST"


def _reason(event: opportunity.OpportunityMatched) -> str:
    lists = sum(1 for one in event.because if one.kind == "watchlist")
    parts = ["it fits your company"] if lists < len(event.because) else []
    if lists:
        parts.append("it fits a watchlist" if lists == 1 else f"it fits {lists} watchlists")
    return " and ".join(parts)


def _about(tender_id: UUID) -> Reference:
    return Reference(domain="opportunity", type="tenderOpportunity", id=tender_id)


def _causation(work: Work) -> UUID | None:
    event_id = work.origin.causation_id
    return UUID(event_id) if event_id else None
