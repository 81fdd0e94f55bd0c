"""Moves of packages, risks, closeouts and lessons."""

from thenga.domains.contract.tables import (
    CloseoutStatus,
    CoordinationStatus,
    LessonStatus,
    RiskStatus,
)
from thenga.kernel.declare.lifecycle import Lifecycle, Move


class CoordinationLifecycle(Lifecycle, initial=CoordinationStatus.OPEN):
    """A package or matter with a supplier."""

    acknowledge = Move(CoordinationStatus.OPEN, to=CoordinationStatus.ACKNOWLEDGED)
    start = Move(CoordinationStatus.ACKNOWLEDGED, to=CoordinationStatus.IN_PROGRESS)
    resolve = Move(CoordinationStatus.IN_PROGRESS, to=CoordinationStatus.RESOLVED)
    close = Move(CoordinationStatus.RESOLVED, to=CoordinationStatus.CLOSED)
    cancel = Move(
        CoordinationStatus.OPEN,
        CoordinationStatus.ACKNOWLEDGED,
        CoordinationStatus.IN_PROGRESS,
        to=CoordinationStatus.CANCELLED,
    )

    OVER = (CoordinationStatus.CLOSED, CoordinationStatus.CANCELLED)


class RiskLifecycle(Lifecycle, initial=RiskStatus.OPEN):
    """A risk of a contract, until it is closed (CON-38)."""

    mitigate = Move(RiskStatus.OPEN, to=RiskStatus.MITIGATING)
    reopen = Move(RiskStatus.MITIGATING, to=RiskStatus.OPEN)
    accept = Move(RiskStatus.OPEN, RiskStatus.MITIGATING, to=RiskStatus.ACCEPTED)
    materialise = Move(
        RiskStatus.OPEN, RiskStatus.MITIGATING, RiskStatus.ACCEPTED, to=RiskStatus.MATERIALISED
    )
    close = Move(
        RiskStatus.OPEN,
        RiskStatus.MITIGATING,
        RiskStatus.ACCEPTED,
        RiskStatus.MATERIALISED,
        to=RiskStatus.CLOSED,
    )

    LIVE = (RiskStatus.OPEN, RiskStatus.MITIGATING, RiskStatus.ACCEPTED, RiskStatus.MATERIALISED)


class CloseoutLifecycle(Lifecycle, initial=CloseoutStatus.CHECKLIST):
    """The end of a contract (CON-41)."""

    submit = Move(CloseoutStatus.CHECKLIST, to=CloseoutStatus.PENDING_ACCEPTANCE)
    complete = Move(CloseoutStatus.PENDING_ACCEPTANCE, to=CloseoutStatus.COMPLETED)
    reopen = Move(
        CloseoutStatus.COMPLETED, CloseoutStatus.PENDING_ACCEPTANCE, to=CloseoutStatus.CHECKLIST
    )


class LessonLifecycle(Lifecycle, initial=(LessonStatus.DRAFT, LessonStatus.PUBLISHED)):
    """A lesson; published ones stay readable until they are archived."""

    publish = Move(LessonStatus.DRAFT, to=LessonStatus.PUBLISHED)
    archive = Move(LessonStatus.DRAFT, LessonStatus.PUBLISHED, to=LessonStatus.ARCHIVED)
