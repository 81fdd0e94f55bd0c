"""Facts of the profile one by one: read, confirm, withdraw, resolve, have them checked."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.organization.api.fact_views import (
    FactView,
    ProvenanceView,
    StatementView,
    VerificationView,
)
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts, reference_data
from thenga.domains.organization.services.facts import (
    Check,
    FactName,
    FactValueInvalid,
    Filters,
    Picture,
    SelfVerification,
)
from thenga.domains.organization.services.reference_data import (
    FACTS,
    IdentifierInconsistent,
    IdentifierInvalid,
)
from thenga.domains.organization.tables import (
    CustomerStatement,
    FactConflict,
    FactKey,
    FactVerification,
    ImportedStatement,
    Outcome,
    Verification,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, NotFound, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, lines, text, whole

router = make_router("Organization / Facts")

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
Key = Annotated[
    str,
    Path(alias="factKey", min_length=1, max_length=40, pattern="^[A-Za-z0-9-]+$"),
    Field(description="A key of the fact catalogue.", examples=["vatNumber"]),
]
Version = Annotated[int, Path(alias="version", ge=1, le=2**31 - 1)]
Group = Literal["identity", "tax", "registers", "size", "ownership", "about", "bank"]
Sensitivity = Literal["public", "internal", "confidential", "special", "secret"]
Why = Annotated[str, lines(1, 500)]


class ConfirmFacts(Body):
    fact_keys: Annotated[
        list[FactName], Field(min_length=1, max_length=40, description="Still right, as they are.")
    ]


class WithdrawStatement(Body):
    statement_id: Annotated[
        UUID, Field(description="Your own statement, an imported one, or a change held back.")
    ]


class ResolveConflict(Body):
    statement_id: Annotated[UUID, Field(description="The statement or check that is right.")]
    reason: Why


class CheckSource(Body):
    """Where the checker looked."""

    register_name: Annotated[
        Literal["cipc_register", "csd_report", "verified_document"] | None,
        Field(alias="register", description="Its rank decides where two registers differ."),
    ] = None
    reference: Annotated[str, text(1, 200)] | None = None


class VerifyFact(Body):
    outcome: Annotated[
        Outcome, Field(description="`inconclusive` where the source did not answer.")
    ]
    method: Literal["registry", "document", "manual", "client_confirmation", "contract"]
    source: CheckSource
    value: Annotated[
        Any, Field(description="What was found, where it is not the value that was shown.")
    ] = None
    valid_until: Annotated[
        Instant | None, Field(description="At most 400 days ahead; by the method if left out.")
    ] = None
    note: Why | None = None


class FactDetailView(FactView):
    """One fact with everything that was ever said of it, side by side."""

    statements: list[StatementView]
    verifications: list[VerificationView]


class VerifiedFactView(FactView):
    """The fact after a check, and the check itself as its maker sees it."""

    verification: VerificationView | None
    held_elsewhere: Annotated[
        bool, Field(description="Another company has this number verified; told to you only.")
    ]


class CitedFactView(View):
    """A fact as it stood in one version; it never changes."""

    organization_id: UUID
    fact_key: str
    version: int
    value: Any
    provenance: ProvenanceView | None
    verification_status: FactVerification
    conflict_status: FactConflict
    change: str
    recorded_at: datetime
    erased: Annotated[bool, Field(description="The value was destroyed; that it was is kept.")]


class ConfirmedView(View):
    """The facts that were confirmed."""

    version: Annotated[int, Field(description="Of the organization.")]
    facts: list[FactView]


class FactKeyView(Stored):
    """One line of the fact catalogue."""

    key: str
    group: Group
    title: str
    value_type: str
    sensitivity: Sensitivity
    fresh_days: Annotated[int, whole(1, 4000), Field(description="Then a fact counts as stale.")]
    weight: Annotated[int, Field(description="How much it counts for the profile's health.")]
    legal_forms: Annotated[list[str], Field(description="The legal forms that have such a fact.")]

    @classmethod
    def of(cls, row: FactKey) -> "FactKeyView":
        return cls.model_validate(row.__dict__ | {"group": row.fact_group})


@router.get("/organizations/{organizationId}/facts")
async def list_facts(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.PROFILE_READ)],
    page: Annotated[Paged, paged("factKey", "createdAt")],
    group: Annotated[Group | None, Query()] = None,
    stale: Annotated[bool | None, Query(description="Only those long not confirmed.")] = None,
    conflict_status: Annotated[FactConflict | None, Query(alias="conflictStatus")] = None,
    verification_status: Annotated[
        FactVerification | None, Query(alias="verificationStatus")
    ] = None,
) -> PageOf[FactView]:
    """The facts of the profile, page by page."""
    filters = Filters(group, stale, conflict_status, verification_status)
    found = await facts.list_facts(read, page, filters)
    pictures, values = await facts.pictures_of(read, [fact.fact_key for fact in found.items])
    now = read.now
    return PageOf[FactView].of(
        found, lambda fact: FactView.of(pictures[fact.fact_key], values, now)
    )


@router.get("/organizations/{organizationId}/facts/{factKey}")
async def get_fact(
    organization_id: OrganizationId,
    fact_key: Key,
    read: Annotated[Reader, reads(Permission.PROFILE_READ)],
) -> FactDetailView:
    """One fact with all statements and checks, withdrawn and ended ones too."""
    picture = await facts.load_one(read, _known(fact_key))
    stated, checks = await facts.history_of(read, fact_key)
    values = await facts.values_for(read, [*stated, *checks])
    return FactDetailView(
        **FactView.of(picture, values, read.now).__dict__,
        statements=[
            StatementView.of(one, values)
            for one in stated
            if isinstance(one, CustomerStatement | ImportedStatement)
        ],
        verifications=[VerificationView.of(check, values) for check in checks],
    )


@router.get("/organizations/{organizationId}/facts/{factKey}/versions/{version}")
async def get_fact_version(
    organization_id: OrganizationId,
    fact_key: Key,
    version: Version,
    read: Annotated[Reader, reads(Permission.PROFILE_READ)],
) -> CitedFactView:
    """A fact as it stood in the version that somebody cites, word for word."""
    cited = await facts.cited(read, _known(fact_key), version)
    source = cited.source
    values = await facts.values_for(read, [] if source is None else [source])
    value = None if source is None else values.shown(fact_key, source)
    return CitedFactView(
        organization_id=organization_id,
        fact_key=fact_key,
        version=cited.version.number,
        value=value,
        provenance=None if source is None else ProvenanceView.of(source),
        verification_status=FactVerification(cited.version.verification_status),
        conflict_status=FactConflict(cited.version.conflict_status),
        change=cited.version.change,
        recorded_at=cited.version.created_at,
        erased=source is not None and value is None,
    )


@router.post("/organizations/{organizationId}/facts/confirm", responses=problems(RuleViolated))
async def confirm_facts(
    organization_id: OrganizationId,
    body: ConfirmFacts,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> ConfirmedView:
    """Say that facts are still right. They count as fresh again and get no new version."""
    organization, pictures = await facts.confirm(work, body.fact_keys)
    shown = [await _seen(work, pictures[key]) for key in dict.fromkeys(body.fact_keys)]
    return ConfirmedView(version=organization.version, facts=shown)


@router.post(
    "/organizations/{organizationId}/facts/{factKey}/withdraw", responses=problems(RuleViolated)
)
async def withdraw_statement(
    organization_id: OrganizationId,
    fact_key: Key,
    body: WithdrawStatement,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> FactView:
    """Take a statement back, your own or an imported one. This also stops a held bank change."""
    picture = await facts.withdraw(work, _known(fact_key), statement_id=body.statement_id)
    return await _seen(work, picture)


@router.post(
    "/organizations/{organizationId}/facts/{factKey}/resolve",
    responses=problems(InvalidTransition, RuleViolated),
)
async def resolve_conflict(
    organization_id: OrganizationId,
    fact_key: Key,
    body: ResolveConflict,
    work: Annotated[Work, writes(Permission.PROFILE_RESOLVE, if_match=True)],
) -> FactView:
    """Decide which of several statements counts. The others stay readable.

    The decision stands until somebody states another value. Send the fact's version as `If-Match`.
    """
    picture = await facts.resolve(
        work, _known(fact_key), statement_id=body.statement_id, reason=body.reason
    )
    return await _seen(work, picture)


@router.post(
    "/organizations/{organizationId}/facts/{factKey}/request-verification",
    responses=problems(InvalidTransition, RuleViolated),
)
async def request_verification(
    organization_id: OrganizationId,
    fact_key: Key,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> FactView:
    """Ask that the value of a fact be checked."""
    return await _seen(work, await facts.request_check(work, _known(fact_key)))


@router.post(
    "/organizations/{organizationId}/facts/{factKey}/verify",
    responses=problems(
        InvalidTransition,
        RuleViolated,
        SelfVerification,
        FactValueInvalid,
        IdentifierInvalid,
        IdentifierInconsistent,
    ),
)
async def verify_fact(
    organization_id: OrganizationId,
    fact_key: Key,
    body: VerifyFact,
    work: Annotated[Work, writes(Permission.PROFILE_VERIFY)],
) -> VerifiedFactView:
    """Report what a check found. Nobody checks what they wrote, nor their own company."""
    check = Check(
        outcome=body.outcome,
        method=body.method,
        source=body.source.model_dump(by_alias=True, exclude_none=True),
        value=body.value,
        valid_until=body.valid_until,
        note=body.note,
    )
    picture, made = await facts.verify(work, _known(fact_key), check)
    shown = await _seen(work, picture)
    return VerifiedFactView(
        **shown.__dict__,
        verification=await _check_seen(work, made),
        held_elsewhere=made is not None and made.held_elsewhere,
    )


@router.get("/organization-catalogues/facts")
async def list_fact_keys(
    read: Annotated[Reader, reads(Permission.CATALOGUE_READ)],
    page: Annotated[Paged, paged("key")],
    group: Annotated[Group | None, Query()] = None,
    sensitivity: Annotated[Sensitivity | None, Query()] = None,
) -> PageOf[FactKeyView]:
    """The fact catalogue: what can be said of a company, how secret it is, how long it is fresh."""
    found = await reference_data.list_facts(read, page, group=group, sensitivity=sensitivity)
    return PageOf[FactKeyView].of(found, FactKeyView.of)


def _known(key: str) -> str:
    if key not in FACTS:
        raise NotFound()
    return key


async def _seen(work: Work, picture: Picture) -> FactView:
    source = picture.effective(work.now)
    values = await facts.values_for(work, [] if source is None else [source])
    return FactView.of(picture, values, work.now)


async def _check_seen(work: Work, check: Verification | None) -> VerificationView | None:
    if check is None:
        return None
    return VerificationView.of(check, await facts.values_for(work, [check]))
