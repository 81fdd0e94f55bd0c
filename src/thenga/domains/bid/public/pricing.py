"""What Bid tells of forms and prices, and the cash that a price needs."""

from abc import abstractmethod
from datetime import date
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.domains.bid.public.of_bids import OfBid
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.money import Money

_VALUE = ConfigDict(frozen=True)

FormStatus = Literal[
    "not_started",
    "in_progress",
    "completed",
    "signed",
    "verified",
    "not_applicable",
    "outdated",
]
WorkbookStatus = Literal["draft", "pending_approval", "approved", "locked"]


class SbdFormChanged(OfBid, type="bid.SbdFormChanged.v1", subject="form_id"):
    """A form of a bid was added, filled in, signed, verified or is outdated."""

    form_id: UUID
    form_code: str
    edition: str | None
    status: FormStatus
    form_version: int


class WorkbookChanged(OfBid, type="bid.WorkbookChanged.v1", subject="workbook_id"):
    """The price of a bid changed; amounts are read by those who may."""

    workbook_id: UUID
    status: WorkbookStatus
    version_number: int


class PlannedReceipt(BaseModel):
    """A part of the price and when it is expected."""

    model_config = _VALUE

    key: str
    amount: Money
    due_on: date | None


class PlannedCost(BaseModel):
    """A cost and when it must be paid."""

    model_config = _VALUE

    key: str
    amount: Money
    pay_by: date | None


class CashPlan(BaseModel):
    """What a bid would cost and bring in, by the workbook and its cash terms."""

    model_config = _VALUE

    version: int
    total: Money
    vat: Money
    cost: Money
    need: Money | None
    start_on: date | None
    deposit_percent: Decimal | None
    delivery_days: int | None
    acceptance_days: int | None
    supplier_credit_percent: Decimal | None
    supplier_terms_days: int | None
    retention_percent: Decimal | None
    cession: bool
    milestones: list[PlannedReceipt]
    costs: list[PlannedCost]


class CashPlans(Port, name="bid.cash_plans", timeout=1.0):
    """The cash picture of a bid's price, for Funding; null where there is no such version.

    Silence: try again.
    """

    @abstractmethod
    @idempotent
    async def describe(
        self, *, organization_id: UUID, workspace_id: UUID, version: int | None = None
    ) -> CashPlan | None: ...


EVENTS = (SbdFormChanged, WorkbookChanged)
