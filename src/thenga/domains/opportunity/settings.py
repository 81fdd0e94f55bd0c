"""Settings of Opportunity: what an operator may change, with their defaults."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, model_validator

from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.declare.setting import Setting, SettingModel

Days = Annotated[int, Field(ge=1, le=3660)]
Weight = Annotated[int, Field(ge=0, le=100)]
Score = Annotated[int, Field(ge=0, le=100)]


class MatchWeights(SettingModel):
    """How much each factor counts; together they are 100 (OPP-30)."""

    subject: Weight = 40
    place: Weight = 20
    capability: Weight = 15
    size: Weight = 10
    experience: Weight = 10
    timing: Weight = 5

    @model_validator(mode="after")
    def _sum(self) -> Self:
        if sum(self.model_dump().values()) != 100:
            raise ValueError("the weights must add up to 100")
        return self


MATCH_WEIGHTS = Setting(
    "opportunity.match.weights", MatchWeights, MatchWeights(), "Weights of matching", kind="policy"
)


class RecommendationRules(SettingModel):
    """From which score a qualified company should bid, and which gaps are small (OPP-38)."""

    strong_from: Score = 70
    gaps_from: Score = 50
    most_gaps: Annotated[int, Field(ge=0, le=20)] = 2
    cure_working_days: Annotated[int, Field(ge=0, le=60)] = 3


RECOMMENDATION_RULES = Setting(
    "opportunity.recommendation.rules",
    RecommendationRules,
    RecommendationRules(),
    "Rules of recommendations",
    kind="policy",
)


class Materiality(SettingModel):
    """Which changes of a tender are material (OPP-44).

    `text_likeness` is the likeness in percent below which a changed text is material, and
    `value_percent` the change of the value above which it is.
    """

    text_likeness: Annotated[Decimal, Field(ge=50, le=100)] = Decimal(97)
    value_percent: Annotated[Decimal, Field(ge=0, le=100)] = Decimal(10)


MATERIALITY = Setting(
    "opportunity.materiality", Materiality, Materiality(), "Material changes", kind="policy"
)


class Fetching(SettingModel):
    """How politely feeds are fetched (OPP-1)."""

    min_interval_ms: Annotated[int, Field(ge=100, le=60_000)] = 1000
    breaker_failures: Annotated[int, Field(ge=1, le=50)] = 5
    breaker_minutes: Annotated[int, Field(ge=1, le=1440)] = 30


FETCH = Setting("opportunity.fetch", Fetching, Fetching(), "Fetching of feeds", kind="policy")

CLOSING_UNKNOWN_DAYS = Setting(
    "opportunity.closing.unknownDays",
    Days,
    60,
    "Days after which a tender without a closing date is closed",
)
SHORT_NOTICE_DAYS = Setting(
    "opportunity.amendment.shortNotice",
    Days,
    4,
    "Days before the closing in which a material amendment is short notice",
)
TELL_BEFORE: Setting[tuple[timedelta, ...]] = Setting(
    "opportunity.deadline.tellBefore",
    Annotated[tuple[timedelta, ...], Field(min_length=1, max_length=10)],
    (timedelta(days=7), timedelta(days=3), timedelta(days=1), timedelta(hours=4)),
    "How long before a deadline companies that saved the tender are told",
)
STORE_FLOOR = Setting(
    "opportunity.match.storeFloor", Score, 40, "Score from which matches are stored"
)
PAGES_KEPT_DAYS = Setting(
    "opportunity.pages.keptDays", Days, 400, "Days after the closing in which pages are found"
)
RUNS_KEPT_DAYS = Setting(
    "opportunity.runs.keptDays", Days, 90, "Days for which finished runs are kept"
)

SETTINGS = (
    MATCH_WEIGHTS,
    RECOMMENDATION_RULES,
    MATERIALITY,
    FETCH,
    CLOSING_UNKNOWN_DAYS,
    SHORT_NOTICE_DAYS,
    TELL_BEFORE,
    STORE_FLOOR,
    PAGES_KEPT_DAYS,
    RUNS_KEPT_DAYS,
    EXTRA_HOLIDAYS,
)
