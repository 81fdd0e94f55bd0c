"""What Funding and Supplier may ask of Contract."""

from abc import abstractmethod
from datetime import date
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.money import Money

_VALUE = ConfigDict(frozen=True)


class CashPlanBuyer(BaseModel):
    """Who pays: a reference that stays the same, never a name, and its kind."""

    model_config = _VALUE

    reference: str
    kind: str


class CashPlanMilestone(BaseModel):
    """Money that a milestone brings, without VAT, and when it is expected."""

    model_config = _VALUE

    milestone_id: UUID
    value_excl_vat: Money
    due_on: date
    forecast_on: date | None
    expected_on: date | None
    status: str


class CashPlanCost(BaseModel):
    """Money that a package costs."""

    model_config = _VALUE

    coordination_id: UUID
    amount: Money
    ordered_on: date
    due_on: date | None
    pay_by: date | None


class CashPlanInvoice(BaseModel):
    """One invoice that was submitted."""

    model_config = _VALUE

    id: UUID
    version: int
    status: str
    disputed: bool
    gross: Money
    vat: Money
    received_on: date | None
    due_on: date | None
    outstanding: Money
    strength: str | None


class CashPlan(BaseModel):
    """The money of one contract over time; amounts say whether VAT is in them."""

    model_config = _VALUE

    version: int
    buyer: CashPlanBuyer
    value_excl_vat: Money
    terms_days: int
    retention_percent: Decimal
    deposit_percent: Decimal
    cession: str
    milestones: list[CashPlanMilestone]
    costs: list[CashPlanCost]
    invoices: list[CashPlanInvoice]
    buyer_payment_days: list[int]


class CashPlans(Port, name="contract.cash_plans", timeout=1.0):
    """The money that a contract brings and costs. Silence: refuse, or ask again."""

    @abstractmethod
    @idempotent
    async def describe(
        self, *, organization_id: UUID, workspace_id: UUID, version: int | None = None
    ) -> CashPlan | None: ...


class Relationship(BaseModel):
    """Whether a supplier worked for this organization on a contract."""

    model_config = _VALUE

    state: Literal["none", "live", "closed", "terminated"]
    closed_on: date | None = None
    strength: str | None = None


class Relationships(Port, name="contract.relationships", timeout=0.5):
    """Who may rate a supplier. Silence means no relationship."""

    @abstractmethod
    @idempotent
    async def verify(
        self, *, organization_id: UUID, supplier_id: UUID, workspace_id: UUID
    ) -> Relationship: ...
