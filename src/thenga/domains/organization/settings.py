"""Settings of Organization: what an operator may change, with their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from thenga.kernel.declare.setting import Setting, SettingModel

FactKey = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9]*$", max_length=60)]
Rank = Annotated[int, Field(ge=0, le=100)]

REVIEW_MODE: Setting[Literal["none", "all"]] = Setting(
    "organization.review.mode",
    Literal["none", "all"],
    "none",
    "Which new organizations wait for a review",
    kind="policy",
)
PER_USER_MAX = Setting(
    "organization.perUser.max",
    Annotated[int, Field(ge=1)],
    10,
    "Organizations that one person can create",
)
SUGGESTION_DAYS = Setting(
    "organization.suggestion.days",
    Annotated[int, Field(ge=1, le=365)],
    60,
    "Days until a suggestion that nobody decided expires",
)
VAT_LUHN = Setting(
    "organization.identifiers.vatLuhn", bool, True, "Check the check digit of VAT numbers"
)
BANK_HOLD_HOURS = Setting(
    "organization.bankChange.holdHours",
    Annotated[int, Field(ge=0, le=240)],
    24,
    "Hours before new bank details take effect",
    kind="policy",
)
VERIFY_MEMBERS = Setting(
    "organization.verify.allowMembers",
    bool,
    False,
    "Let members verify facts of their own organization",
    kind="policy",
)


class SourceRank(SettingModel):
    """How far each source of a fact is trusted; the highest wins."""

    cipc_register: Annotated[Rank, Field(alias="cipc_register")] = 90
    csd_report: Annotated[Rank, Field(alias="csd_report")] = 80
    verified_document: Annotated[Rank, Field(alias="verified_document")] = 70
    customer: Rank = 50
    imported: Annotated[Rank, Field(alias="import")] = 40


SOURCE_RANK = Setting(
    "organization.sources.rank", SourceRank, SourceRank(), "Trust in sources", kind="policy"
)
AUTO_RESOLVE: Setting[frozenset[str]] = Setting(
    "organization.sources.autoResolve",
    frozenset[FactKey],
    frozenset({"registrationNumber", "legalName", "registrationStatus", "registrationDate"}),
    "Facts whose conflicts the most trusted source decides",
    kind="policy",
)

SETTINGS = (
    REVIEW_MODE,
    PER_USER_MAX,
    SUGGESTION_DAYS,
    VAT_LUHN,
    BANK_HOLD_HOURS,
    VERIFY_MEMBERS,
    SOURCE_RANK,
    AUTO_RESOLVE,
)
