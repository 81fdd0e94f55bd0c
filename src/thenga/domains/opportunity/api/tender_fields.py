"""Fields of tenders that requests and answers share."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.opportunity.tables import (
    Attendance,
    AttendanceState,
    Briefing,
    BriefingStatus,
    Deadline,
)
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.values.fields import Email, matching, text
from thenga.kernel.values.money import Money

TenderOpportunityId = Annotated[UUID, Path(alias="tenderOpportunityId")]

Sphere = Literal["national", "provincial", "municipal", "state_company", "other"]
Regime = Literal["pfma", "mfma", "other"]
Method = Literal["open", "selective", "limited", "direct"]
MainCategory = Literal["goods", "works", "services"]
Precision = Annotated[
    Literal["minute", "day"],
    Field(description="`day` means that the notice names no time of day."),
]
Province = Literal["EC", "FS", "GP", "KZN", "LP", "MP", "NC", "NW", "WC"]
Visibility = Literal["private", "shared"]
Ocid = Annotated[str, matching(r"^ocds-[A-Za-z0-9]{6}-[A-Za-z0-9./_-]{1,100}$", 120)]
TenderNumber = Annotated[str, text(1, 120)]


class BuyerBody(Body):
    """Organ of state that buys."""

    name: Annotated[str, text(1, 300), Field(description="Name of the buyer.")]
    sphere: Annotated[Sphere | None, Field(description="Sphere of government.")] = None
    regime: Annotated[
        Regime | None, Field(description="Public finance law that applies: PFMA, MFMA or another.")
    ] = None
    source_buyer_id: Annotated[
        Annotated[str, text(1, 120)] | None, Field(description="ID of the buyer at the source.")
    ] = None

    def columns(self) -> dict[str, Any]:
        return {
            "buyer_name": self.name,
            "buyer_sphere": self.sphere,
            "buyer_regime": self.regime,
            "source_buyer_id": self.source_buyer_id,
        }


class BuyerView(View):
    """Organ of state that buys."""

    name: Annotated[str, Field(description="Name of the buyer.")]
    sphere: Annotated[str | None, Field(description="Sphere of government.")]
    regime: Annotated[str | None, Field(description="Public finance law that applies.")]
    source_buyer_id: Annotated[str | None, Field(description="ID of the buyer at the source.")]


class ClassificationBody(Body):
    """Classification code."""

    scheme: Annotated[
        Annotated[str, matching("^[A-Za-z0-9_-]{1,40}$", 40)],
        Field(description="Scheme, such as UNSPSC."),
    ]
    code: Annotated[
        Annotated[str, matching("^[A-Za-z0-9.-]{1,40}$", 40)], Field(description="Code.")
    ]


class ClassificationView(View):
    """Classification code."""

    scheme: Annotated[str, Field(description="Scheme, such as UNSPSC.")]
    code: Annotated[str, Field(description="Code.")]


class TenderContactBody(Body):
    """Contact for questions."""

    name: Annotated[Annotated[str, text(1, 200)] | None, Field(description="Name.")] = None
    email: Annotated[Email | None, Field(description="Email address.")] = None
    phone: Annotated[
        Annotated[str, text(4, 40)] | None, Field(description="Phone number as published.")
    ] = None


class TenderContactView(View):
    """Contact for questions."""

    name: Annotated[str | None, Field(description="Name.")] = None
    email: Annotated[str | None, Field(description="Email address.")] = None
    phone: Annotated[str | None, Field(description="Phone number as published.")] = None


class AwardBody(Body):
    """Award of the tender, valid until it is set aside."""

    award_id: Annotated[Annotated[str, text(1, 120)], Field(description="Buyer's ID of the award.")]
    date: Annotated[
        Annotated[str, matching(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", 10)] | None,
        Field(description="Day of the award."),
    ] = None
    supplier_name: Annotated[
        Annotated[str, text(1, 300)] | None, Field(description="Supplier as published.")
    ] = None
    value: Annotated[Money | None, Field(description="Value of the award.")] = None

    def stored(self) -> dict[str, Any]:
        value = self.value
        money = None if value is None else {"amount": value.amount, "currency": value.currency}
        return {
            "awardId": self.award_id,
            "status": "active",
            "date": self.date,
            "supplierName": self.supplier_name,
            "value": money,
        }


class AwardView(View):
    """Award of the tender."""

    award_id: Annotated[str, Field(description="Buyer's ID of the award.")]
    status: Annotated[str, Field(description="Status of the award.")]
    date: Annotated[date | None, Field(description="Day of the award.")]
    supplier_name: Annotated[str | None, Field(description="Supplier as published.")]
    value: Annotated[Money | None, Field(description="Value of the award.")]


class AttendanceBody(Body):
    """Your own attendance at a briefing."""

    state: Annotated[AttendanceState, Field(description="Your attendance at the briefing.")]
    attended_by_user_id: Annotated[
        UUID | None, Field(description="Person who attended for you.")
    ] = None
    registered_as: Annotated[
        Annotated[str, text(1, 200)] | None,
        Field(description="Name of the bidder as signed in the register."),
    ] = None
    proof_refs: Annotated[
        list[Annotated[str, text(1, 200)]],
        Field(max_length=5, description="References to proofs, such as a photo of the register."),
    ] = []

    def columns(self) -> dict[str, Any]:
        made = self.model_dump()
        made["proof_refs"] = [{"reference": one} for one in self.proof_refs]
        return made


class AttendanceView(View):
    """Your own attendance at a briefing."""

    id: Annotated[UUID, Field(description="ID of the record.")]
    state: Annotated[AttendanceState, Field(description="Recorded attendance.")]
    starts_at: Annotated[datetime, Field(description="Start of the briefing it was recorded for.")]
    attended_by_user_id: Annotated[UUID | None, Field(description="Person who attended.")]
    registered_as: Annotated[str | None, Field(description="Name as signed in the register.")]
    proof_refs: Annotated[list[str], Field(description="References to proofs.")]
    recorded_by: Annotated[UUID | None, Field(description="Person who recorded it.")]
    recorded_at: Annotated[datetime, Field(description="When it was recorded.")]

    @classmethod
    def of(cls, row: Attendance) -> "AttendanceView":
        values = row.__dict__ | {"proof_refs": [one["reference"] for one in row.proof_refs]}
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class BriefingView(Stored):
    """A briefing before the closing date, with your own attendance."""

    tender_opportunity_id: UUID
    own: Annotated[bool, Field(description="Whether only you see this briefing.")]
    kind: Annotated[Literal["meeting", "site_visit", "online"], Field(description="Kind.")]
    starts_at: Annotated[datetime, Field(description="When it begins.")]
    ends_at: Annotated[datetime | None, Field(description="When it ends.")]
    time_zone: str
    venue: Annotated[str | None, Field(description="Where it is held.")]
    compulsory: Annotated[bool, Field(description="Whether bidders must attend.")]
    note: Annotated[str | None, Field(description="Note.")]
    status: BriefingStatus
    held: Annotated[bool, Field(description="Whether its time has passed.")]
    moved_from: Annotated[list[datetime], Field(description="Earlier start times.")]
    doubts: Annotated[list[str], Field(description="Codes of doubtful details.")]
    attendance: Annotated[
        AttendanceView | None, Field(description="Your recorded attendance. Null if none.")
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/briefings/{self.id}"

    @classmethod
    def of(
        cls, row: Briefing, attendance: Attendance | None, now: datetime, *, own: bool
    ) -> "BriefingView":
        values = row.__dict__ | {
            "own": own,
            "held": (row.ends_at or row.starts_at) <= now and row.status == "scheduled",
            "attendance": None if attendance is None else AttendanceView.of(attendance),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class DeadlineRuleBody(Body):
    """Days counted back from the closing date."""

    before: Annotated[Literal["closing"], Field(description="Date to count back from.")]
    working_days: Annotated[
        Annotated[int, Field(ge=1, le=250)] | None, Field(description="Number of working days.")
    ] = None
    calendar_days: Annotated[
        Annotated[int, Field(ge=1, le=365)] | None, Field(description="Number of calendar days.")
    ] = None

    def stored(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True)


class DeadlineRuleView(View):
    """Days counted back from the closing date."""

    before: Annotated[str, Field(description="Date to count back from.")]
    working_days: Annotated[int | None, Field(description="Number of working days.")] = None
    calendar_days: Annotated[int | None, Field(description="Number of calendar days.")] = None


class DeadlineView(Stored):
    """A deadline of the tender."""

    tender_opportunity_id: UUID
    own: Annotated[bool, Field(description="Whether only you see this deadline.")]
    kind: Annotated[str, Field(description="Kind of the deadline.")]
    label: Annotated[str, Field(description="Name of the deadline.")]
    due_at: Annotated[datetime, Field(description="When it is due.")]
    rule: Annotated[
        DeadlineRuleView | None, Field(description="How the date is derived from the closing date.")
    ]
    precision: Precision
    time_zone: str
    state: Annotated[
        Literal["upcoming", "passed", "withdrawn"], Field(description="Whether it is still ahead.")
    ]
    moved_from: Annotated[list[datetime], Field(description="Earlier dates.")]
    basis: Annotated[
        Literal["source", "captured", "derived"], Field(description="Source of the date.")
    ]
    sequence: Annotated[int, Field(description="Increases with every change.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunities/{self.tender_opportunity_id}/deadlines/{self.id}"

    @classmethod
    def of(cls, row: Deadline, state: str, *, own: bool) -> "DeadlineView":
        values = row.__dict__ | {"own": own, "state": state, "sequence": row.version}
        return cls.model_validate({name: values[name] for name in cls.model_fields})
