"""Moves of sections and of suggestions to them."""

from datetime import datetime

from thenga.domains.bid.tables import Section, SectionStatus, SuggestionStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict


def has_owner(section: Section, at: datetime) -> None:
    if section.owner_user_id is None:
        raise Conflict("Assign an owner to the section before you request a review.")


class SectionLifecycle(Lifecycle, initial=SectionStatus.NOT_STARTED):
    """A section; somebody who wrote none of it approves it (BID-12)."""

    begin = Move(SectionStatus.NOT_STARTED, to=SectionStatus.DRAFTING, by=By.SYSTEM)
    request_review = Move(
        *(SectionStatus.DRAFTING, SectionStatus.CHANGES_REQUESTED),
        to=SectionStatus.READY_FOR_REVIEW,
        guard=has_owner,
    )
    request_changes = Move(SectionStatus.READY_FOR_REVIEW, to=SectionStatus.CHANGES_REQUESTED)
    approve = Move(SectionStatus.READY_FOR_REVIEW, to=SectionStatus.APPROVED)
    lock = Move(SectionStatus.APPROVED, to=SectionStatus.LOCKED)
    reopen = Move(SectionStatus.APPROVED, SectionStatus.LOCKED, to=SectionStatus.DRAFTING)
    rewrite = Move(
        *(SectionStatus.APPROVED, SectionStatus.READY_FOR_REVIEW, SectionStatus.CHANGES_REQUESTED),
        to=SectionStatus.DRAFTING,
        by=By.SYSTEM,
    )


class SuggestionLifecycle(Lifecycle, initial=SuggestionStatus.PENDING):
    """A suggestion; only a person takes it (BID-14)."""

    accept = Move(SuggestionStatus.PENDING, to=SuggestionStatus.ACCEPTED)
    edit = Move(SuggestionStatus.PENDING, to=SuggestionStatus.EDITED_AND_ACCEPTED)
    reject = Move(SuggestionStatus.PENDING, to=SuggestionStatus.REJECTED)
    supersede = Move(SuggestionStatus.PENDING, to=SuggestionStatus.SUPERSEDED, by=By.SYSTEM)
    expire = Move(SuggestionStatus.PENDING, to=SuggestionStatus.EXPIRED, by=By.SYSTEM)
