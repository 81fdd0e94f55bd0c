"""Which moves exist in Organization."""

from datetime import datetime

from thenga.domains.organization.tables import (
    Capability,
    CapabilityStatus,
    CapabilityVerification,
    ClientReferenceStatus,
    Director,
    DirectorStatus,
    DirectorVerification,
    EquipmentStatus,
    FactConflict,
    FactVerification,
    FleetAssetStatus,
    Offering,
    PastProject,
    PastProjectStatus,
    PastProjectVerification,
    ProductStatus,
    Record,
    ServiceStatus,
    SuggestionStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict, RuleViolated

FA, SS, PS = FleetAssetStatus, ServiceStatus, ProductStatus
CS, CV = CapabilityStatus, CapabilityVerification
PP, PV, CR = PastProjectStatus, PastProjectVerification, ClientReferenceStatus
D, DV = DirectorStatus, DirectorVerification


def not_archived(record: Record, at: datetime) -> None:
    if record.archived_at is not None:
        raise Conflict("This record is archived; archived records are not moved.")


def still_kept(director: Director, at: datetime) -> None:
    if director.archived_at is not None:
        raise Conflict("This director is archived; archived directors are not moved.")


class DirectorLifecycle(Lifecycle, initial=D.ACTIVE):
    resign = Move(D.ACTIVE, to=D.RESIGNED, guard=still_kept)
    reappoint = Move(D.RESIGNED, to=D.ACTIVE, guard=still_kept)


class DirectorVerificationLifecycle(Lifecycle, initial=DV.UNVERIFIED, axis="verification_status"):
    """Whether the record was checked as it stands; each check is a row of its own (ORG-6)."""

    verify = Move(
        *(DV.PENDING, DV.UNVERIFIED, DV.FAILED, DV.INCONCLUSIVE, DV.EXPIRED),
        to=DV.VERIFIED,
        by=By.SYSTEM,
    )
    fail = Move(
        *(DV.PENDING, DV.UNVERIFIED, DV.VERIFIED, DV.INCONCLUSIVE, DV.EXPIRED),
        to=DV.FAILED,
        by=By.SYSTEM,
    )
    leave_open = Move(DV.PENDING, DV.UNVERIFIED, DV.EXPIRED, to=DV.INCONCLUSIVE, by=By.SYSTEM)
    expire = Move(DV.VERIFIED, to=DV.EXPIRED, by=By.SYSTEM)
    reset = Move(
        *(DV.PENDING, DV.VERIFIED, DV.FAILED, DV.INCONCLUSIVE, DV.EXPIRED),
        to=DV.UNVERIFIED,
        by=By.SYSTEM,
    )


class EquipmentLifecycle(Lifecycle, initial=EquipmentStatus.AVAILABLE):
    assign = Move(EquipmentStatus.AVAILABLE, to=EquipmentStatus.IN_USE, guard=not_archived)
    release = Move(EquipmentStatus.IN_USE, to=EquipmentStatus.AVAILABLE, guard=not_archived)
    maintain = Move(EquipmentStatus.AVAILABLE, to=EquipmentStatus.MAINTENANCE, guard=not_archived)
    return_ = Move(EquipmentStatus.MAINTENANCE, to=EquipmentStatus.AVAILABLE, guard=not_archived)
    retire = Move(
        EquipmentStatus.AVAILABLE,
        EquipmentStatus.IN_USE,
        EquipmentStatus.MAINTENANCE,
        to=EquipmentStatus.RETIRED,
        guard=not_archived,
    )


class FleetAssetLifecycle(Lifecycle, initial=FA.AVAILABLE):
    assign = Move(FA.AVAILABLE, to=FA.IN_USE, guard=not_archived)
    release = Move(FA.IN_USE, to=FA.AVAILABLE, guard=not_archived)
    maintain = Move(FA.AVAILABLE, to=FA.MAINTENANCE, guard=not_archived)
    return_ = Move(FA.MAINTENANCE, to=FA.AVAILABLE, guard=not_archived)
    retire = Move(FA.AVAILABLE, FA.IN_USE, FA.MAINTENANCE, to=FA.RETIRED, guard=not_archived)


def can_be_found(offering: Offering, at: datetime) -> None:
    """It has at least one classification or area, and is not archived."""
    not_archived(offering, at)
    areas = offering.areas
    if not offering.classifications and not any(areas.values()):
        raise RuleViolated(
            "Name a classification or an area first, so that buyers can find it.", rule="ORG-19"
        )


class ServiceLifecycle(Lifecycle, initial=SS.DRAFT):
    activate = Move(SS.DRAFT, to=SS.ACTIVE, guard=can_be_found)
    discontinue = Move(SS.ACTIVE, to=SS.DISCONTINUED, guard=not_archived)


class ProductLifecycle(Lifecycle, initial=PS.DRAFT):
    activate = Move(PS.DRAFT, to=PS.ACTIVE, guard=can_be_found)
    discontinue = Move(PS.ACTIVE, to=PS.DISCONTINUED, guard=not_archived)


def still_claimed(capability: Capability, at: datetime) -> None:
    """It is neither archived nor withdrawn."""
    not_archived(capability, at)
    if capability.status is CS.WITHDRAWN:
        raise Conflict("This capability was withdrawn; nothing of it is reviewed any more.")


def has_evidence(capability: Capability, at: datetime) -> None:
    """It names at least one piece of evidence, and is still claimed."""
    still_claimed(capability, at)
    if not capability.evidence_refs:
        raise RuleViolated("Attach evidence first.", rule="ORG-21")


def is_complete(capability: Capability, at: datetime) -> None:
    """It has evidence, and of a CIDB grading the number and the last valid day (ORG-21)."""
    has_evidence(capability, at)
    cidb = capability.cidb
    if cidb is not None and not (cidb.get("crs_number") and cidb.get("valid_until")):
        raise RuleViolated(
            "A CIDB grading is verified with its CRS number and its last valid day.", rule="ORG-21"
        )


class CapabilityLifecycle(Lifecycle, initial=CS.ACTIVE):
    """Whether the company still claims it."""

    withdraw = Move(CS.ACTIVE, to=CS.WITHDRAWN, guard=not_archived)


class CapabilityVerificationLifecycle(
    Lifecycle, initial=(CV.CLAIMED, CV.EVIDENCE_ATTACHED), axis="verification_status"
):
    """Whether it is proven; what was checked and then changed is to be checked again (ORG-6)."""

    attach_evidence = Move(
        CV.CLAIMED,
        CV.REJECTED,
        CV.LAPSED,
        to=CV.EVIDENCE_ATTACHED,
        guard=has_evidence,
        by=By.SYSTEM,
    )
    detach_evidence = Move(
        CV.EVIDENCE_ATTACHED,
        CV.UNDER_REVIEW,
        CV.VERIFIED,
        CV.REJECTED,
        CV.LAPSED,
        to=CV.CLAIMED,
        by=By.SYSTEM,
    )
    reopen = Move(CV.UNDER_REVIEW, CV.VERIFIED, to=CV.EVIDENCE_ATTACHED, by=By.SYSTEM)
    request_review = Move(CV.EVIDENCE_ATTACHED, to=CV.UNDER_REVIEW, guard=has_evidence)
    verify = Move(CV.UNDER_REVIEW, to=CV.VERIFIED, guard=is_complete, by=By.SYSTEM)
    reject = Move(CV.UNDER_REVIEW, to=CV.REJECTED, guard=still_claimed, by=By.SYSTEM)
    lapse = Move(CV.VERIFIED, to=CV.LAPSED, by=By.SYSTEM)


def can_be_shown(project: PastProject, at: datetime) -> None:
    """It names client, title, first and last day, and value, and is not archived."""
    not_archived(project, at)
    if project.completed_on is None or project.value_minor is None:
        raise RuleViolated(
            "A published project says when it was completed and what it was worth.", rule="ORG-23"
        )


class PastProjectLifecycle(Lifecycle, initial=(PP.DRAFT, PP.PUBLISHED)):
    publish = Move(PP.DRAFT, to=PP.PUBLISHED, guard=can_be_shown)
    archive = Move(PP.PUBLISHED, to=PP.ARCHIVED)


class PastProjectVerificationLifecycle(
    Lifecycle, initial=PV.UNVERIFIED, axis="verification_status"
):
    """Whether it is proven (ORG-23); the check binds to a version (ORG-6)."""

    request = Move(PV.UNVERIFIED, PV.FAILED, to=PV.PENDING, guard=not_archived, by=By.SYSTEM)
    verify = Move(PV.UNVERIFIED, PV.PENDING, to=PV.VERIFIED, guard=not_archived)
    fail = Move(PV.UNVERIFIED, PV.PENDING, to=PV.FAILED, guard=not_archived, by=By.SYSTEM)
    lose = Move(PV.PENDING, PV.VERIFIED, PV.FAILED, to=PV.UNVERIFIED, by=By.SYSTEM)


class ClientReferenceLifecycle(Lifecycle, initial=CR.DRAFT):
    """Sending and answering come with the client's link; nobody asks for those moves yet."""

    request = Move(
        CR.DRAFT, CR.EXPIRED, CR.UNREACHABLE, to=CR.REQUESTED, guard=not_archived, by=By.SYSTEM
    )
    confirm = Move(CR.REQUESTED, to=CR.CONFIRMED, by=By.SYSTEM)
    decline = Move(CR.REQUESTED, to=CR.DECLINED, by=By.SYSTEM)
    withdraw = Move(CR.REQUESTED, to=CR.WITHDRAWN, guard=not_archived)
    expire = Move(CR.REQUESTED, to=CR.EXPIRED, by=By.SYSTEM)
    bounce = Move(CR.REQUESTED, to=CR.UNREACHABLE, by=By.SYSTEM)


class FactVerificationLifecycle(
    Lifecycle, initial=FactVerification.UNVERIFIED, axis="verification_status"
):
    """Whether the value that counts was checked; each check is a row of its own (ORG-6)."""

    request = Move(
        FactVerification.UNVERIFIED,
        FactVerification.FAILED,
        FactVerification.INCONCLUSIVE,
        FactVerification.EXPIRED,
        to=FactVerification.PENDING,
    )
    verify = Move(
        FactVerification.PENDING,
        FactVerification.UNVERIFIED,
        FactVerification.INCONCLUSIVE,
        FactVerification.EXPIRED,
        to=FactVerification.VERIFIED,
    )
    fail = Move(
        FactVerification.PENDING,
        FactVerification.UNVERIFIED,
        FactVerification.INCONCLUSIVE,
        FactVerification.EXPIRED,
        to=FactVerification.FAILED,
        by=By.SYSTEM,
    )
    leave_open = Move(
        FactVerification.PENDING,
        FactVerification.UNVERIFIED,
        FactVerification.EXPIRED,
        to=FactVerification.INCONCLUSIVE,
        by=By.SYSTEM,
    )
    expire = Move(FactVerification.VERIFIED, to=FactVerification.EXPIRED, by=By.SYSTEM)
    reset = Move(
        FactVerification.PENDING,
        FactVerification.VERIFIED,
        FactVerification.FAILED,
        FactVerification.INCONCLUSIVE,
        FactVerification.EXPIRED,
        to=FactVerification.UNVERIFIED,
        by=By.SYSTEM,
    )


class FactConflictLifecycle(Lifecycle, initial=FactConflict.NONE, axis="conflict_status"):
    """Whether live statements or checks of one fact differ (ORG-4)."""

    raise_ = Move(
        FactConflict.NONE, FactConflict.RESOLVED, to=FactConflict.CONFLICTED, by=By.SYSTEM
    )
    resolve = Move(FactConflict.CONFLICTED, to=FactConflict.RESOLVED)
    settle = Move(
        FactConflict.CONFLICTED, FactConflict.RESOLVED, to=FactConflict.NONE, by=By.SYSTEM
    )


class SuggestionLifecycle(Lifecycle, initial=SuggestionStatus.PENDING):
    """What became of a machine's suggestion; only a person accepts one (ORG-5)."""

    accept = Move(SuggestionStatus.PENDING, to=SuggestionStatus.ACCEPTED)
    accept_edited = Move(
        SuggestionStatus.PENDING, to=SuggestionStatus.EDITED_AND_ACCEPTED, by=By.SYSTEM
    )
    reject = Move(SuggestionStatus.PENDING, to=SuggestionStatus.REJECTED)
    supersede = Move(SuggestionStatus.PENDING, to=SuggestionStatus.SUPERSEDED, by=By.SYSTEM)
    expire = Move(SuggestionStatus.PENDING, to=SuggestionStatus.EXPIRED, by=By.SYSTEM)


LIFECYCLES = (
    DirectorLifecycle,
    DirectorVerificationLifecycle,
    EquipmentLifecycle,
    FleetAssetLifecycle,
    ServiceLifecycle,
    ProductLifecycle,
    CapabilityLifecycle,
    CapabilityVerificationLifecycle,
    PastProjectLifecycle,
    PastProjectVerificationLifecycle,
    ClientReferenceLifecycle,
    FactVerificationLifecycle,
    FactConflictLifecycle,
    SuggestionLifecycle,
)
