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

VersionNumber = Annotated[int, Path(alias="version", ge=1, le=2**31 - 1)]
Keyword = Annotated[str, text(2, 60)]
Keywords = Annotated[list[Keyword], Field(max_length=50)]
MunicipalityCode = Annotated[str, matching("^[A-Z]{2,3}[0-9]{0,3}$", 6)]
Grade = Annotated[int, whole(1, 9)]
ClassOfWorks = Annotated[str, matching("^(?:GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])$", 2)]
Topic = Annotated[str, matching("^[a-z][a-z0-9_.]{0,79}$", 80)]
_NOTICE = (
    "Minimum days until closing. Tenders with fewer days left when first seen are not matched."
)
_QUIET = "Message topics to mute. `security` and `deadline_critical` cannot be muted."


class CategoryBody(Body):
    """A category that the company wants."""

    scheme: public.Scheme
    code: Annotated[str, matching("^[A-Za-z0-9][A-Za-z0-9.-]{0,39}$", 40)]


class ValueBandBody(Body):
    """Range of contract values."""

    min: Money | None = None
    max: Money | None = None


class CidbRangeBody(Body):
    """Range of CIDB grades in one class."""

    class_of_works: Annotated[ClassOfWorks, Field(alias="class")]
    min_grade: Grade
    max_grade: Grade


class ReplacePreferences(Body):
    """The whole document. Omitted fields take their default."""

    categories: Annotated[list[CategoryBody], Field(max_length=50)] = []
    keywords: Keywords = []
    excluded_keywords: Keywords = []
    national: Annotated[
        bool, Field(description="Whether the whole country is wanted. If so, leave places empty.")
    ] = False
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
    """A category that the company wants."""

    scheme: public.Scheme
    code: str


class ValueBandView(View):
    """Range of contract values."""

    min: Money | None
    max: Money | None


class CidbRangeView(View):
    """Range of CIDB grades in one class."""

    class_of_works: Annotated[str, Field(alias="class")]
    min_grade: int
    max_grade: int


class DocumentView(View):
    """Procurement preferences. Lists are sets and are sorted."""

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
    min_match_score: Annotated[
        int, Field(description="Minimum match score, 0 to 100. Weaker matches are not shown.")
    ]
    quiet_topics: Annotated[list[str], Field(description=_QUIET)]


class PreferenceWarningView(View):
    """A setting that may not have the intended effect."""

    code: str
    field: str
    detail: str


class PreferencesView(DocumentView):
    """The current document. Before the first change, the defaults with version 0."""

    id: UUID
    organization_id: UUID
    created_at: datetime | None
    updated_at: datetime | None
    version: Annotated[
        int, Field(ge=0, description="Version for `If-Match`. 0 before the first document.")
    ]
    warnings: Annotated[
        list[PreferenceWarningView],
        Field(description="Settings that were stored but may not have the intended effect."),
    ]

    @classmethod
    def of(cls, held: ProcurementPreferences, warned: list[dict[str, str]]) -> "PreferencesView":
        about = {name: value for name, value in held.__dict__.items() if name != "document"}
        return cls.model_validate({**held.document, **about, "warnings": warned})


class ChangeView(View):
    """A field that changed."""

    field: str
    before: Any
    after: Any


class PreferencesVersionView(View):
    """The document as it was after one change."""

    version: int
    document: DocumentView
    changes: Annotated[
        list[ChangeView], Field(description="Differences from the previous version.")
    ]
    actor_kind: ActorKind
    actor_id: UUID | None
    recorded_at: datetime

    @classmethod
    def of(cls, version: PreferencesVersion) -> "PreferencesVersionView":
        numbered = {"version": version.preferences_version, "recorded_at": version.created_at}
        return cls.shown(version.__dict__ | numbered)


@router.get("/organizations/{organizationId}/procurement-preferences")
async def get_procurement_preferences(
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
) -> PreferencesView:
    """Retrieve what the company wants to bid on.

    Before the first change, the defaults as version 0.
    """
    held = await offers.current_preferences(read)
    return PreferencesView.of(held, await offers.preferences_warnings(read, held.document))


@router.put(
    "/organizations/{organizationId}/procurement-preferences",
    responses=problems(RuleViolated, ClassificationInvalid, MunicipalityMismatch),
)
async def replace_procurement_preferences(
    body: ReplacePreferences,
    work: Annotated[Work, writes(Permission.PREFERENCES_UPDATE, if_match=True)],
) -> PreferencesView:
    """Replace the whole document. Send `If-Match` with the `ETag` you read (at first `"0"`).

    A document equal to the current one makes no version. If someone else changed it first, the 412
    lists the changed fields in `changedFields`.
    """
    wanted = public.PreferenceSet.model_validate(body.model_dump(by_alias=True))
    held = await offers.replace_preferences(work, wanted=wanted)
    return PreferencesView.of(held, await offers.preferences_warnings(work, held.document))


@router.get("/organizations/{organizationId}/procurement-preferences/versions")
async def list_procurement_preferences_versions(
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
    page: Annotated[Paged, paged("version", default="-version")],
) -> PageOf[PreferencesVersionView]:
    """List all versions of the document, with their changes and who made them."""
    found = await offers.preferences_versions(read, page)
    return PageOf[PreferencesVersionView].of(found, PreferencesVersionView.of)


@router.get("/organizations/{organizationId}/procurement-preferences/versions/{version}")
async def get_procurement_preferences_version(
    version: VersionNumber,
    read: Annotated[Reader, reads(Permission.PREFERENCES_READ)],
) -> PreferencesVersionView:
    """Retrieve one version of the document and its difference from the previous one."""
    return PreferencesVersionView.of(await offers.preferences_version(read, version))
