"""Procurement preferences: which tenders the company wants to see and bid on."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.organization import public
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import offers
from thenga.domains.organization.services.reference_data import (
    ClassificationInvalid,
    MunicipalityMismatch,
)
from thenga.domains.organization.tables import PreferencesVersion, ProcurementPreferences
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import matching, text, whole
from thenga.kernel.values.money import Money

router = make_router("Organization / Procurement preferences")

OrganizationId = Annotated[UUID, Path(alias="organizationId")]
VersionNumber = Annotated[int, Path(alias="version", ge=1, le=2**31 - 1)]
Keyword = Annotated[str, text(2, 60)]
Keywords = Annotated[list[Keyword], Field(max_length=50)]
MunicipalityCode = Annotated[str, matching("^[A-Z]{2,3}[0-9]{0,3}$", 6)]
Grade = Annotated[int, whole(1, 9)]
ClassOfWorks = Annotated[str, matching("^(?:GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])$", 2)]
Topic = Annotated[str, matching("^[a-z][a-z0-9_.]{0,79}$", 80)]
_NOTICE = "A tender with fewer days left when we first see it is not matched."
_QUIET = "Topics of messages you do not want; `security` and `deadline_critical` come all the same."


class CategoryBody(Body):
    scheme: public.Scheme
    code: Annotated[str, matching("^[A-Za-z0-9][A-Za-z0-9.-]{0,39}$", 40)]


class ValueBandBody(Body):
    min: Money | None = None
    max: Money | None = None


class CidbRangeBody(Body):
    class_of_works: Annotated[ClassOfWorks, Field(alias="class")]
    min_grade: Grade
    max_grade: Grade


class PutPreferences(Body):
    """The whole document: a field that is left out takes its default."""

    categories: Annotated[list[CategoryBody], Field(max_length=50)] = []
    keywords: Keywords = []
    excluded_keywords: Keywords = []
    national: Annotated[bool, Field(description="Everywhere; then name no places.")] = False
    provinces: Annotated[list[public.Province], Field(max_length=9)] = []
    municipalities: Annotated[list[MunicipalityCode], Field(max_length=60)] = []
    value_band: ValueBandBody = ValueBandBody()
    cidb: Annotated[list[CidbRangeBody], Field(max_length=10)] = []
    buyer_types: Annotated[list[public.BuyerType], Field(max_length=6)] = []
    methods: Annotated[list[public.Method], Field(max_length=4)] = []
    compulsory_briefings: public.Briefings = "any"
    notice_period_days: Annotated[int, whole(0, 60), Field(description=_NOTICE)] = 7
    max_concurrent_bids: Annotated[int, whole(1, 50)] | None = None
    min_match_score: Annotated[int, whole(0, 100)] = 50
    quiet_topics: Annotated[list[Topic], Field(max_length=20, description=_QUIET)] = []


class CategoryView(View):
    scheme: public.Scheme
    code: str


class ValueBandView(View):
    min: Money | None
    max: Money | None


class CidbRangeView(View):
    class_of_works: Annotated[str, Field(alias="class")]
    min_grade: int
    max_grade: int


class DocumentView(View):
    """What the company wants; lists are sets and come sorted."""

    categories: list[CategoryView]
    keywords: list[str]
    excluded_keywords: list[str]
    national: bool
    provinces: list[public.Province]
    municipalities: list[str]
    value_band: ValueBandView
    cidb: list[CidbRangeView]
    buyer_types: list[public.BuyerType]
    methods: list[public.Method]
    compulsory_briefings: public.Briefings
    notice_period_days: Annotated[int, Field(description=_NOTICE)]
    max_concurrent_bids: int | None
    min_match_score: Annotated[int, Field(description="0 to 100; weaker matches are not shown.")]
    quiet_topics: Annotated[list[str], Field(description=_QUIET)]


class PreferenceWarningView(View):
    code: str
    field: str
    detail: str


class PreferencesView(DocumentView):
    """The document in force. Before the first one it is the defaults, with version 0."""

    id: UUID
    organization_id: UUID
    created_at: datetime | None
    updated_at: datetime | None
    version: Annotated[int, Field(ge=0, description="For `If-Match`; 0 before the first document.")]
    warnings: Annotated[
        list[PreferenceWarningView],
        Field(description="Kept as you said it, but it may not do what you mean"),
    ]

    @classmethod
    def of(cls, held: ProcurementPreferences, warned: list[dict[str, str]]) -> "PreferencesView":
        about = {name: value for name, value in held.__dict__.items() if name != "document"}
        return cls.model_validate({**held.document, **about, "warnings": warned})


class ChangeView(View):
    field: str
    before: Any
    after: Any


class PreferencesVersionView(View):
    """The document as it stood after one change."""

    version: int
    document: DocumentView
    changes: Annotated[list[ChangeView], Field(description="What differs from the one before.")]
    actor_kind: ActorKind
    actor_id: UUID | None
    recorded_at: datetime

    @classmethod
    def of(cls, version: PreferencesVersion) -> "PreferencesVersionView":
        numbered = {"version": version.preferences_version, "recorded_at": version.created_at}
        return cls.shown(version.__dict__ | numbered)


@router.get("/organizations/{organizationId}/procurement-preferences")
async def get_procurement_preferences(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
) -> PreferencesView:
    """What the company wants to bid on. Nobody has said it yet: the defaults, as version 0."""
    held = await offers.current_preferences(read)
    return PreferencesView.of(held, await offers.preferences_warnings(read, held.document))


@router.put(
    "/organizations/{organizationId}/procurement-preferences",
    responses=problems(RuleViolated, ClassificationInvalid, MunicipalityMismatch),
)
async def put_procurement_preferences(
    organization_id: OrganizationId,
    body: PutPreferences,
    work: Annotated[Work, writes(Permission.PREFERENCES_UPDATE, if_match=True)],
) -> PreferencesView:
    """Replace the whole document. Send `If-Match` with the `ETag` you read (or `"0"` at first).

    A document equal to the one in force makes no version. If somebody was faster, the 412 names
    the fields they changed in `changedFields`.
    """
    wanted = public.PreferenceSet.model_validate(body.model_dump(by_alias=True))
    held = await offers.replace_preferences(work, wanted=wanted)
    return PreferencesView.of(held, await offers.preferences_warnings(work, held.document))


@router.get("/organizations/{organizationId}/procurement-preferences/versions")
async def list_procurement_preferences_versions(
    organization_id: OrganizationId,
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
    page: Annotated[Paged, paged("version")],
) -> PageOf[PreferencesVersionView]:
    """Every document there was, with what each changed and who changed it."""
    found = await offers.preferences_versions(read, page)
    return PageOf[PreferencesVersionView].of(found, PreferencesVersionView.of)


@router.get("/organizations/{organizationId}/procurement-preferences/versions/{version}")
async def get_procurement_preferences_version(
    organization_id: OrganizationId,
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
) -> PreferencesVersionView:
    """One document as it was, with what differs from the one before."""
    return PreferencesVersionView.of(await offers.preferences_version(read, version))
