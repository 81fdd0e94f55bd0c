"""Capabilities: what the company claims to be able to do, and how far that is proven."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.checked import RecordCheckView, VerificationBody
from thenga.domains.organization.api.classification_bodies import (
    AreasBody,
    AreasView,
    ClassificationBody,
    ClassificationView,
    Code,
    Known,
    Scheme,
)
from thenga.domains.organization.api.records import (
    RecordView,
    ReferenceBody,
    ReferenceView,
    VersionNumber,
    VersionView,
    given,
    shown,
    stored,
)
from thenga.domains.organization.lifecycles import (
    CapabilityLifecycle,
    CapabilityVerificationLifecycle,
)
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import evidence, offers, records, reference_data
from thenga.domains.organization.services.facts import SelfVerification
from thenga.domains.organization.services.offers import EvidenceNotLive
from thenga.domains.organization.services.records import FieldForbidden
from thenga.domains.organization.services.reference_data import (
    CidbInvalid,
    ClassificationInvalid,
    MunicipalityMismatch,
)
from thenga.domains.organization.tables import (
    Capability,
    CapabilityStatus,
    CapabilityVerification,
    EvidenceState,
    Verification,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, lines, matching, text, whole
from thenga.kernel.values.money import Money

router = make_router("Organization / Capabilities")

CapabilityId = Annotated[UUID, Path(alias="capabilityId")]
Label = Annotated[str, text(1, 160)]
About = Annotated[str, lines(1, 4000)]
Works = Annotated[str, matching("^[A-Z]{2}$", 2)]


class CidbBody(Body):
    """Grading by the Construction Industry Development Board."""

    designation: Annotated[str, text(1, 10)]
    crs_number: Annotated[
        Annotated[str, matching("^[0-9]{1,12}$", 12)] | None,
        Field(description="CRS number. Required, with the last day, before it can be verified."),
    ] = None
    valid_until: Day | None = None


class CapacityBody(Body):
    """Capacity in a period."""

    quantity: Annotated[int, whole(1, 1_000_000_000)]
    unit: Annotated[str, text(1, 40)]
    period: Literal["day", "week", "month", "year", "project"]


Evidence = Annotated[list[ReferenceBody], Field(max_length=30)]
Codes = Annotated[list[ClassificationBody], Field(min_length=1, max_length=20)]


class ClaimCapability(Body):
    """Capability to claim."""

    title: Label
    classifications: Codes
    description: About | None = None
    cidb: CidbBody | None = None
    capacity: CapacityBody | None = None
    areas: AreasBody = AreasBody()
    evidence_refs: Evidence = []


class ChangeCapability(Body):
    """Fields to update. Omitted fields stay unchanged; null clears optional fields."""

    title: Label = "unchanged"
    classifications: Codes = []
    description: About | None = None
    cidb: CidbBody | None = None
    capacity: CapacityBody | None = None
    areas: AreasBody = AreasBody()
    evidence_refs: Evidence = []
    request_review: Annotated[
        bool, Field(description="Whether to submit it for review with this change.")
    ] = False
    verification: Annotated[
        VerificationBody | None,
        Field(description="Result of a verification. Verifiers only, and without other fields."),
    ] = None


class CidbView(View):
    """Grading by the Construction Industry Development Board."""

    designation: str
    crs_number: str | None
    valid_until: date | None


class CapacityView(View):
    """Capacity in a period."""

    quantity: int
    unit: str
    period: str


class EvidenceView(ReferenceView):
    """A reference to evidence and its state today."""

    state: EvidenceState


class CapabilityView(RecordView):
    """A claimed capability. `verificationStatus` says whether it is proven."""

    title: str
    description: str | None
    classifications: list[ClassificationView]
    cidb: CidbView | None
    cidb_max_tender_value: Money | None
    capacity: CapacityView | None
    areas: AreasView
    evidence_refs: list[ReferenceView]
    evidence_state: list[EvidenceView]
    status: CapabilityStatus
    verification_status: CapabilityVerification
    verified_until: datetime | None
    verifications: list[RecordCheckView]
    allowed_moves: list[AllowedMove]


class _Page:
    """What views of capabilities need beyond their rows, asked once for a whole page."""

    def __init__(
        self,
        known: Known,
        states: dict[str, evidence.Known],
        checked: dict[UUID, list[Verification]],
        now: datetime,
    ) -> None:
        self._known = known
        self._states = states
        self._checked = checked
        self._now = now

    @classmethod
    async def of(cls, read: Reader, rows: Sequence[Capability]) -> "_Page":
        references = [one for row in rows for one in row.evidence_refs]
        return cls(
            await Known.of(read, rows),
            await evidence.known_evidence(read, references),
            await evidence.of_records(read, rows),
            read.now,
        )

    def view(self, row: Capability) -> CapabilityView:
        row = offers.as_of(row, self._now)
        states = [
            EvidenceView.shown({**one, "state": self._states[one["id"]].state})
            for one in row.evidence_refs
        ]
        return CapabilityView.shown(
            {
                **shown(row),
                "classifications": self._known.views(row.classifications),
                "cidb": row.cidb and CidbView.shown(dict(row.cidb)),
                "cidb_max_tender_value": _most(row, local_day(self._now)),
                "evidence_state": states,
                "verifications": [RecordCheckView.of(one) for one in self._checked[row.id]],
                "allowed_moves": _allowed(row, self._now),
            }
        )


def _most(row: Capability, today: date) -> Money | None:
    if row.cidb is None:
        return None
    return reference_data.max_tender_value(
        reference_data.parse_cidb(str(row.cidb["designation"])), today
    )


def _allowed(row: Capability, now: datetime) -> list[AllowedMove]:
    return [
        *CapabilityLifecycle.allowed(row, now),
        *CapabilityVerificationLifecycle.allowed(row, now),
    ]


@router.post(
    "/organizations/{organizationId}/capabilities",
    status_code=201,
    responses=problems(CidbInvalid, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
)
async def claim_capability(
    body: ClaimCapability,
    work: Annotated[Work, writes(Permission.CAPABILITY_CREATE)],
) -> CapabilityView:
    """Claim a capability of the company. With evidence it starts as `evidence_attached`."""
    return await _shown(work, await offers.add_capability(work, fields=given(body)))


@router.get("/organizations/{organizationId}/capabilities")
async def list_capabilities(
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
    page: Annotated[Paged, paged("createdAt", "title")],
    verification_status: Annotated[
        CapabilityVerification | None, Query(alias="verificationStatus")
    ] = None,
    scheme: Annotated[Scheme | None, Query(description="Filter by classification scheme.")] = None,
    code: Annotated[
        Code | None,
        Query(
            description=(
                "Filter by classification code, with `scheme`. Trailing pairs of zeros of a "
                "UNSPSC code match all codes below it."
            )
        ),
    ] = None,
    cidb_class: Annotated[
        Works | None,
        Query(alias="cidbClass", description="Filter by CIDB class of works, for example `GB`."),
    ] = None,
    archived: Annotated[bool, Query(description="Show archived items instead.")] = False,
) -> PageOf[CapabilityView]:
    """List the capabilities of the organization."""
    found = await offers.list_capabilities(
        read,
        page,
        verification_status=verification_status,
        scheme=scheme,
        code=code,
        cidb_class=cidb_class,
        archived=archived,
    )
    seen = await _Page.of(read, found.items)
    return PageOf[CapabilityView].of(found, seen.view)


@router.get("/organizations/{organizationId}/capabilities/{capabilityId}")
async def get_capability(
    capability_id: CapabilityId,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
) -> CapabilityView:
    """Retrieve a capability with its evidence and verifications, also if archived."""
    return await _shown(read, await read.get(Capability, capability_id))


@router.get("/organizations/{organizationId}/capabilities/{capabilityId}/versions")
async def list_capability_versions(
    capability_id: CapabilityId,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
    page: Annotated[Paged, paged("version", default="-version")],
) -> PageOf[VersionView]:
    """List the versions of a capability and who changed it."""
    found = await records.versions(read, Capability, capability_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/capabilities/{capabilityId}/versions/{version}")
async def get_capability_version(
    capability_id: CapabilityId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
) -> VersionView:
    """Retrieve one version. It never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Capability, capability_id, version))


@router.patch(
    "/organizations/{organizationId}/capabilities/{capabilityId}",
    responses=problems(
        *(FieldForbidden, SelfVerification, InvalidTransition, EvidenceNotLive),
        *(CidbInvalid, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
    ),
)
async def change_capability(
    capability_id: CapabilityId,
    body: ChangeCapability,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Update the fields you send, request a review or, as a verifier, record a verification.

    Changing the claim of a verified capability means that it must be verified again. The block
    `verification` is for verifiers who do not belong to the company.
    """
    fields: dict[str, Any] = body.changes()
    fields.pop("request_review", None)
    fields.pop("verification", None)
    row = await offers.change_capability(
        work,
        capability_id,
        fields=stored(fields),
        request_review=body.request_review,
        check=None if body.verification is None else body.verification.check(),
    )
    return await _shown(work, row)


@router.delete("/organizations/{organizationId}/capabilities/{capabilityId}", status_code=204)
async def archive_capability(
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_ARCHIVE)],
) -> Response:
    """Archive a capability. The record stays readable by its ID."""
    await offers.archive_capability(work, capability_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/request-review",
    responses=problems(InvalidTransition, EvidenceNotLive, RuleViolated),
)
async def request_capability_review(
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Submit a capability with valid evidence for review."""
    return await _shown(work, await offers.request_review(work, capability_id))


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/withdraw",
    responses=problems(InvalidTransition),
)
async def withdraw_capability(
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Withdraw a claim permanently. The record and its verifications stay readable."""
    return await _shown(work, await offers.withdraw_capability(work, capability_id))


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/verify",
    responses=problems(SelfVerification, InvalidTransition, EvidenceNotLive, RuleViolated),
)
async def verify_capability(
    capability_id: CapabilityId,
    body: VerificationBody,
    work: Annotated[Work, writes(Permission.CAPABILITY_VERIFY)],
) -> CapabilityView:
    """Record a verification of a capability under review. For verifiers of another company."""
    return await _shown(work, await offers.verify_capability(work, capability_id, body.check()))


async def _shown(read: Reader, row: Capability) -> CapabilityView:
    return (await _Page.of(read, [row])).view(row)
