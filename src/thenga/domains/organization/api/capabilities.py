"""Capabilities: what the company claims to be able to do, and how far that is proven."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.organization.api.checked import RecordCheckView, VerificationBody
from thenga.domains.organization.api.classified import (
    AreasBody,
    AreasView,
    ClassificationBody,
    ClassificationView,
    Code,
    Known,
    Scheme,
)
from thenga.domains.organization.api.records import (
    OrganizationId,
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
    """A grading of the Construction Industry Development Board."""

    designation: Annotated[
        Annotated[str, text(1, 10)], Field(description="Grade and class, for example `5GB`.")
    ]
    crs_number: Annotated[
        Annotated[str, matching("^[0-9]{1,12}$", 12)] | None,
        Field(description="Needed, with the last day, before it can be verified."),
    ] = None
    valid_until: Day | None = None


class CapacityBody(Body):
    quantity: Annotated[int, whole(1, 1_000_000_000)]
    unit: Annotated[str, text(1, 40)]
    period: Literal["day", "week", "month", "year", "project"]


Evidence = Annotated[
    list[ReferenceBody],
    Field(
        max_length=30,
        description="Evidence or documents of Compliance, certificates, contracts, or your own "
        "`pastProject`, `equipment`, `fleetAsset`.",
    ),
]
Codes = Annotated[list[ClassificationBody], Field(min_length=1, max_length=20)]


class ClaimCapability(Body):
    title: Label
    classifications: Codes
    description: About | None = None
    cidb: CidbBody | None = None
    capacity: CapacityBody | None = None
    areas: AreasBody = AreasBody()
    evidence_refs: Evidence = []


class ChangeCapability(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    title: Label = "unchanged"
    classifications: Codes = []
    description: About | None = None
    cidb: CidbBody | None = None
    capacity: CapacityBody | None = None
    areas: AreasBody = AreasBody()
    evidence_refs: Evidence = []
    request_review: Annotated[
        bool, Field(description="Hand it to a verifier with this change.")
    ] = False
    verification: Annotated[
        VerificationBody | None,
        Field(description="For verifiers only, and then alone."),
    ] = None


class CidbView(View):
    designation: str
    crs_number: str | None
    valid_until: date | None


class CapacityView(View):
    quantity: int
    unit: str
    period: str


class EvidenceView(ReferenceView):
    """A reference, and what is known of it today."""

    state: EvidenceState


class CapabilityView(RecordView):
    """A claim; `verificationStatus` says how far it is proven."""

    title: str
    description: str | None
    classifications: list[ClassificationView]
    cidb: CidbView | None
    cidb_max_tender_value: Annotated[
        Money | None,
        Field(description="The largest tender of the grade today; null without limit or grade."),
    ]
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
    organization_id: OrganizationId,
    body: ClaimCapability,
    work: Annotated[Work, writes(Permission.CAPABILITY_CREATE)],
) -> CapabilityView:
    """Claim that the company can do something. With evidence it starts as `evidence_attached`."""
    return await _shown(work, await offers.add_capability(work, fields=given(body)))


@router.get("/organizations/{organizationId}/capabilities")
async def list_capabilities(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
    page: Annotated[Paged, paged("createdAt", "title")],
    verification_status: Annotated[
        CapabilityVerification | None, Query(alias="verificationStatus")
    ] = None,
    scheme: Annotated[Scheme | None, Query(description="Of this classification scheme.")] = None,
    code: Annotated[
        Code | None,
        Query(description="With `scheme`; pairs of zeros of a UNSPSC code mean all below it."),
    ] = None,
    cidb_class: Annotated[
        Works | None, Query(alias="cidbClass", description="The class of works, as `GB`.")
    ] = None,
    archived: Annotated[bool, Query(description="Show the archived ones instead.")] = False,
) -> PageOf[CapabilityView]:
    """The capabilities of the organization, page by page."""
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
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
) -> CapabilityView:
    """One capability with its evidence and its checks, archived ones too."""
    return await _shown(read, await read.get(Capability, capability_id))


@router.get("/organizations/{organizationId}/capabilities/{capabilityId}/versions")
async def list_capability_versions(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[VersionView]:
    """What the capability's record said after each change, and who changed it."""
    found = await records.versions(read, Capability, capability_id, page)
    return PageOf[VersionView].of(found, VersionView.of)


@router.get("/organizations/{organizationId}/capabilities/{capabilityId}/versions/{version}")
async def get_capability_version(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.CAPABILITY_READ)],
) -> VersionView:
    """One version, word for word; it never changes, so it can be cited."""
    return VersionView.of(await records.version(read, Capability, capability_id, version))


@router.patch(
    "/organizations/{organizationId}/capabilities/{capabilityId}",
    responses=problems(
        *(FieldForbidden, SelfVerification, InvalidTransition, EvidenceNotLive),
        *(CidbInvalid, ClassificationInvalid, MunicipalityMismatch, RuleViolated),
    ),
)
async def change_capability(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    body: ChangeCapability,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Change the fields you name, ask for a review, or, as a verifier, bring a check.

    What was verified and is changed in what it claims must be verified again. The block
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
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_ARCHIVE)],
) -> Response:
    """Take a capability out of the lists. The record stays readable under its identifier."""
    await offers.archive_capability(work, capability_id)
    return Response(status_code=204)


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/request-review",
    responses=problems(InvalidTransition, EvidenceNotLive, RuleViolated),
)
async def request_review_of_capability(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Hand a capability with live evidence to a verifier."""
    return await _shown(work, await offers.request_review(work, capability_id))


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/withdraw",
    responses=problems(InvalidTransition),
)
async def withdraw_capability(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    work: Annotated[Work, writes(Permission.CAPABILITY_UPDATE)],
) -> CapabilityView:
    """Take the claim back for good; the record and its checks stay readable."""
    return await _shown(work, await offers.withdraw_capability(work, capability_id))


@router.post(
    "/organizations/{organizationId}/capabilities/{capabilityId}/verify",
    responses=problems(SelfVerification, InvalidTransition, EvidenceNotLive, RuleViolated),
)
async def verify_capability(
    organization_id: OrganizationId,
    capability_id: CapabilityId,
    body: VerificationBody,
    work: Annotated[Work, writes(Permission.CAPABILITY_VERIFY)],
) -> CapabilityView:
    """Bring a check of a capability under review, as a verifier of another house."""
    return await _shown(work, await offers.verify_capability(work, capability_id, body.check()))


async def _shown(read: Reader, row: Capability) -> CapabilityView:
    return (await _Page.of(read, [row])).view(row)
