"""What matching reads of a tender and of a company: plain values, no rows and no clock."""

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

Words = frozenset[str]  # lexemes of the search configuration
Proof = Literal["verified", "evidence", "claimed"]


@dataclass(frozen=True, slots=True)
class CidbAsked:
    """A CIDB grading that a tender asks for; `sure` if a person captured it as a requirement."""

    works: str
    grade: int
    emerging_allowed: bool = False
    sure: bool = True


@dataclass(frozen=True, slots=True)
class BriefingAsked:
    """A compulsory briefing."""

    briefing_id: UUID
    starts_at: datetime


@dataclass(frozen=True, slots=True)
class TenderFeatures:
    """A tender as the score and the gates read it. `closes_at` is when its gates close."""

    codes: tuple[str, ...] = ()  # UNSPSC, eight digits
    words: Words = frozenset()
    provinces: frozenset[str] = frozenset()
    municipality: str | None = None
    cidb: tuple[CidbAsked, ...] = ()
    value_minor: int | None = None
    closes_at: datetime | None = None
    is_open: bool = True
    buyer_type: str | None = None
    method: str | None = None
    briefings: tuple[BriefingAsked, ...] = ()
    mandatory_codes: frozenset[str] = frozenset()  # documents that are asked for


@dataclass(frozen=True, slots=True)
class CidbHeld:
    """A CIDB grading that a company holds."""

    works: str
    grade: int
    emerging: bool
    proof: Proof
    valid_until: date | None
    ref: str


@dataclass(frozen=True, slots=True)
class HeldCode:
    """A UNSPSC code of a category, an offer or a capability; only capabilities have a proof."""

    code: str
    proof: Proof | None
    ref: str


@dataclass(frozen=True, slots=True)
class Project:
    """A published past project, with the UNSPSC families it belongs to."""

    families: tuple[str, ...]
    verified: bool
    ended_on: date | None  # none while it goes on
    ref: str


@dataclass(frozen=True, slots=True)
class ProfileFeatures:
    """A company as the score and the gates read it.

    A keyword is a tuple of lexemes, all of which must stand in the text. `blockers` is none while
    Compliance has not answered.
    """

    codes: tuple[HeldCode, ...] = ()
    keywords: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    national: bool = False
    provinces: frozenset[str] = frozenset()
    municipalities: frozenset[str] = frozenset()
    cidb: tuple[CidbHeld, ...] = ()
    projects: tuple[Project, ...] = ()
    largest_project_minor: int | None = None
    value_min_minor: int | None = None
    value_max_minor: int | None = None
    buyer_types: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    briefings: str = "any"  # any, nearby_only, none
    notice_days: int = 7
    max_concurrent_bids: int | None = None
    min_score: int = 50
    blockers: frozenset[str] | None = None

    def to_row(self) -> dict[str, Any]:
        """As JSON, the same for equal features."""
        row = asdict(self)
        for name in _SETS:
            if row[name] is not None:
                row[name] = sorted(row[name])
        for held in row["cidb"]:
            held["valid_until"] = held["valid_until"] and held["valid_until"].isoformat()
        for project in row["projects"]:
            project["ended_on"] = project["ended_on"] and project["ended_on"].isoformat()
            project["families"] = list(project["families"])
        for name in ("keywords", "excluded"):
            row[name] = [list(words) for words in row[name]]
        for name in ("codes", "cidb", "projects"):
            row[name] = list(row[name])
        return row

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> "ProfileFeatures":
        made = dict(row)
        for name in _SETS:
            if made[name] is not None:
                made[name] = frozenset(made[name])
        made["codes"] = tuple(HeldCode(**held) for held in row["codes"])
        made["cidb"] = tuple(
            CidbHeld(**held | {"valid_until": _day(held["valid_until"])}) for held in row["cidb"]
        )
        made["projects"] = tuple(
            Project(**one | {"ended_on": _day(one["ended_on"]), "families": tuple(one["families"])})
            for one in row["projects"]
        )
        for name in ("keywords", "excluded"):
            made[name] = tuple(tuple(words) for words in row[name])
        return cls(**made)


_SETS = ("provinces", "municipalities", "buyer_types", "methods", "blockers")


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
