"""Which moves exist in Compliance."""

from thenga.domains.compliance.tables import (
    DocumentStatus,
    EvidenceStatus,
    RiskStatus,
    SuggestionStatus,
    VerificationStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.files.contents import ContentLifecycle

D, E, V, R, S = DocumentStatus, EvidenceStatus, VerificationStatus, RiskStatus, SuggestionStatus


class DocumentLifecycle(Lifecycle, initial=D.ACTIVE):
    """A document, until its retention ends."""

    erase = Move(D.ACTIVE, to=D.ERASED, by=By.SYSTEM)


class EvidenceLifecycle(Lifecycle, initial=E.SUBMITTED):
    """An evidence; somebody else than its bringer verifies it (CMP-17)."""

    review = Move(E.SUBMITTED, to=E.IN_REVIEW, by=By.SYSTEM)
    release = Move(E.IN_REVIEW, to=E.SUBMITTED, by=By.SYSTEM)
    verify = Move(E.SUBMITTED, E.IN_REVIEW, to=E.VERIFIED, by=By.SYSTEM)
    return_ = Move(E.SUBMITTED, E.IN_REVIEW, to=E.NEEDS_REVISION, by=By.SYSTEM)
    reject = Move(E.SUBMITTED, E.IN_REVIEW, to=E.REJECTED, by=By.SYSTEM)
    resubmit = Move(
        *(E.VERIFIED, E.NEEDS_REVISION, E.REJECTED, E.STALE), to=E.SUBMITTED, by=By.SYSTEM
    )
    stale = Move(E.VERIFIED, to=E.STALE, by=By.SYSTEM)


class VerificationLifecycle(Lifecycle, initial=V.PENDING):
    """A verification; one that is decided never changes again."""

    claim = Move(V.PENDING, to=V.IN_PROGRESS, called="decide")
    release = Move(V.IN_PROGRESS, to=V.PENDING, by=By.SYSTEM)
    verify = Move(V.PENDING, V.IN_PROGRESS, to=V.VERIFIED, called="decide")
    fail = Move(V.PENDING, V.IN_PROGRESS, to=V.FAILED, called="decide")
    doubt = Move(V.PENDING, V.IN_PROGRESS, to=V.INCONCLUSIVE, called="decide")
    return_ = Move(V.PENDING, V.IN_PROGRESS, to=V.NEEDS_REVISION, called="decide")
    cancel = Move(V.PENDING, V.IN_PROGRESS, to=V.CANCELLED)


class RiskLifecycle(Lifecycle, initial=R.OPEN):
    """A risk, until it is closed or has come true (CMP-34, CMP-35)."""

    mitigate = Move(R.OPEN, to=R.MITIGATING)
    accept = Move(R.OPEN, R.MITIGATING, to=R.ACCEPTED)
    lapse = Move(R.ACCEPTED, to=R.OPEN, by=By.SYSTEM)
    materialise = Move(R.OPEN, R.MITIGATING, R.ACCEPTED, to=R.MATERIALISED)
    close = Move(R.OPEN, R.MITIGATING, R.ACCEPTED, to=R.CLOSED)


class SuggestionLifecycle(Lifecycle, initial=S.PENDING):
    """A suggestion; only a person takes it (CMP-36)."""

    accept = Move(S.PENDING, S.CHANGES_REQUESTED, to=S.ACCEPTED, called="review")
    edit_and_accept = Move(
        S.PENDING, S.CHANGES_REQUESTED, to=S.EDITED_AND_ACCEPTED, called="review"
    )
    reject = Move(S.PENDING, S.CHANGES_REQUESTED, to=S.REJECTED, called="review")
    request_changes = Move(S.PENDING, to=S.CHANGES_REQUESTED, called="review")
    expire = Move(S.PENDING, S.CHANGES_REQUESTED, to=S.EXPIRED, by=By.SYSTEM)
    supersede = Move(S.PENDING, S.CHANGES_REQUESTED, to=S.SUPERSEDED, by=By.SYSTEM)


LIFECYCLES: tuple[type[Lifecycle], ...] = (
    DocumentLifecycle,
    ContentLifecycle,
    EvidenceLifecycle,
    VerificationLifecycle,
    RiskLifecycle,
    SuggestionLifecycle,
)
