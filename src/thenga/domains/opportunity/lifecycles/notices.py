"""Which moves a tender, its documents, requirements and briefings have."""

from thenga.domains.opportunity.tables import (
    BriefingStatus,
    FetchState,
    RequirementStatus,
    TenderStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

T, F, R, B = TenderStatus, FetchState, RequirementStatus, BriefingStatus
_LIVE = (T.PLANNED, T.OPEN, T.CLOSED)
_ENDED = (T.CANCELLED, T.WITHDRAWN, T.UNSUCCESSFUL, T.AWARDED)


class TenderOpportunityLifecycle(Lifecycle, initial=T.DRAFT):
    """A tender, from capture to its end. Time opens and closes it (OPP-12, OPP-13)."""

    plan = Move(T.DRAFT, to=T.PLANNED, by=By.SYSTEM)
    publish = Move(T.DRAFT, to=T.OPEN)
    open_ = Move(T.PLANNED, to=T.OPEN, by=By.SYSTEM)
    close = Move(T.DRAFT, T.PLANNED, T.OPEN, to=T.CLOSED, by=By.SYSTEM)
    reopen = Move(T.CLOSED, to=T.OPEN, by=By.SYSTEM)
    cancel = Move(*_LIVE, to=T.CANCELLED)
    withdraw = Move(*_LIVE, to=T.WITHDRAWN)
    fail = Move(T.CLOSED, to=T.UNSUCCESSFUL)
    fail_early = Move(T.PLANNED, T.OPEN, to=T.UNSUCCESSFUL, by=By.SYSTEM)
    supersede = Move(*_LIVE, *_ENDED, to=T.SUPERSEDED)
    award = Move(T.OPEN, T.CLOSED, T.UNSUCCESSFUL, to=T.AWARDED)
    award_early = Move(T.PLANNED, to=T.AWARDED, by=By.SYSTEM)
    set_aside = Move(T.AWARDED, to=T.CLOSED)


class DocumentFetchLifecycle(Lifecycle, initial=F.NONE, axis="fetch_state"):
    """The fetching of a document from its address (OPP-21)."""

    queue = Move(F.NONE, F.FAILED, F.GONE, F.REFUSED, F.FETCHING, to=F.QUEUED, by=By.SYSTEM)
    begin = Move(F.QUEUED, F.FAILED, to=F.FETCHING, by=By.SYSTEM)
    store = Move(F.NONE, F.QUEUED, F.FETCHING, to=F.STORED, by=By.SYSTEM)
    fail = Move(F.QUEUED, F.FETCHING, to=F.FAILED, by=By.SYSTEM)
    refuse = Move(F.NONE, F.QUEUED, F.FETCHING, to=F.REFUSED, by=By.SYSTEM)
    lose = Move(F.QUEUED, F.FETCHING, F.FAILED, to=F.GONE, by=By.SYSTEM)


class RequirementLifecycle(Lifecycle, initial=R.ACTIVE):
    """A requirement, until another one replaces it or it is retired."""

    supersede = Move(R.ACTIVE, to=R.SUPERSEDED, by=By.SYSTEM)
    retire = Move(R.ACTIVE, to=R.RETIRED)


class BriefingLifecycle(Lifecycle, initial=B.SCHEDULED):
    """A briefing; that it was held follows from its end (OPP-27)."""

    cancel = Move(B.SCHEDULED, to=B.CANCELLED)
