"""The lifecycle of a support case."""

from datetime import datetime

from thenga.domains.administration.tables import ResolutionCode, SupportCase, SupportCaseStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict, Problem

_UNSEEN = (ResolutionCode.DUPLICATE, ResolutionCode.SPAM)


class CaseTooOld(Problem):
    """A message reopens a case for a limited time after it was resolved. Open a new case and name
    this one in `predecessorCaseId`."""

    code, status, title = "administration-case-too-old", 409, "This case can no longer be reopened"


def triaged_unless_refused(row: SupportCase, at: datetime) -> None:
    """A new case is triaged first, unless it is a duplicate or spam."""
    if row.status is SupportCaseStatus.NEW and row.resolution_code not in _UNSEEN:
        raise Conflict(
            "Triage this case first. A new case can only be resolved as duplicate or spam."
        )


def resolved_recently(row: SupportCase, at: datetime) -> None:
    """The case was resolved in the last days (ADM-23)."""
    if row.reopens_until is None or at > row.reopens_until:
        raise CaseTooOld()


class SupportCaseLifecycle(Lifecycle, initial=SupportCaseStatus.NEW):
    """Staff triage and resolve a case; a message of the customer reopens it."""

    triage = Move(SupportCaseStatus.NEW, to=SupportCaseStatus.TRIAGED, by=By.STAFF)
    resolve = Move(
        *(SupportCaseStatus.NEW, SupportCaseStatus.TRIAGED),
        to=SupportCaseStatus.RESOLVED,
        guard=triaged_unless_refused,
        by=By.STAFF,
    )
    reopen = Move(
        SupportCaseStatus.RESOLVED,
        to=SupportCaseStatus.TRIAGED,
        guard=resolved_recently,
        by=By.SYSTEM,
    )


LIFECYCLES = (SupportCaseLifecycle,)
