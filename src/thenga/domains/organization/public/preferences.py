"""What a company wants to bid on, as other domains read it."""

from abc import abstractmethod
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port
from thenga.kernel.values.money import Money

Scheme = Literal["unspsc", "cidb", "cpv", "internal"]
Province = Literal["EC", "FS", "GP", "KZN", "LP", "MP", "NW", "NC", "WC"]
BuyerType = Literal[
    "national_department", "provincial_department", "municipality",
    "state_company", "private", "other",
]  # fmt: skip
Method = Literal["open", "selective", "limited", "direct"]
Briefings = Literal["any", "nearby_only", "none"]

_VALUE = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class Category(BaseModel):
    """A kind of work, by its code in a scheme."""

    model_config = _VALUE

    scheme: Scheme
    code: str


class ValueBand(BaseModel):
    """How large a tender may be; an end that is null is open."""

    model_config = _VALUE

    min: Money | None = None
    max: Money | None = None


class CidbRange(BaseModel):
    """A class of construction works, and from which to which grade."""

    model_config = _VALUE

    class_of_works: str = Field(alias="class")
    min_grade: int
    max_grade: int


class PreferenceSet(BaseModel):
    """The whole document; what it says where nobody has said anything yet is the default."""

    model_config = _VALUE

    categories: list[Category] = []
    keywords: list[str] = []
    excluded_keywords: list[str] = []
    national: bool = False
    provinces: list[Province] = []
    municipalities: list[str] = []
    value_band: ValueBand = ValueBand()
    cidb: list[CidbRange] = []
    buyer_types: list[BuyerType] = []
    methods: list[Method] = []
    compulsory_briefings: Briefings = "any"
    notice_period_days: int = 7
    max_concurrent_bids: int | None = None
    min_match_score: int = 50
    quiet_topics: list[str] = []


class CurrentPreferences(BaseModel):
    """The document in force and its number; 0 while there are only defaults."""

    model_config = _VALUE

    preferences_version: int = 0
    document: PreferenceSet = PreferenceSet()


class Preferences(Port, name="organization.preferences", timeout=0.5):
    """What does this company want to bid on? Whoever hears nothing takes the defaults."""

    @abstractmethod
    async def current(self, *, organization_id: UUID) -> CurrentPreferences: ...


class ProcurementPreferencesChanged(
    Event, type="organization.ProcurementPreferencesChanged.v1", subject="preferences_id"
):
    """What a company wants to bid on is different now; matches made before are stale."""

    organization_id: UUID
    preferences_id: UUID
    preferences_version: int
    changed_fields: list[str]


EVENTS = (ProcurementPreferencesChanged,)
