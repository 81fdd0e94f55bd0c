"""Packages and matters with suppliers."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.amounts import PositiveMoney
from thenga.domains.contract.api.proofs import ContractReference, ContractReferenceView
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import CoordinationLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import suppliers
from thenga.domains.contract.services.suppliers import (
    CoordinationMove,
    SubcontractLimit,
    SupplierBlocked,
)
from thenga.domains.contract.services.workspaces import ContractOver
from thenga.domains.contract.tables import Coordination, CoordinationStatus
from thenga.domains.contract.values.packages import (
    PackageMilestone,
    package_of_rows,
    rows_of_package,
)
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Percent, lines, matching, text, whole
from thenga.kernel.values.money import Money

router = make_router("Contract / Supplier coordination")

CoordinationId = Annotated[
    UUID, Path(alias="coordinationId", description="ID of the package or matter.")
]
Kind = Literal["package", "matter"]
Text = Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Description.")]
DueOn = Annotated[Day | None, Field(description="Due date.")]
FinalCost = Annotated[PositiveMoney | None, Field(description="Final cost of the package.")]
_PAY_DAYS = 30


class PackageMilestoneBody(Body):
    """One milestone of a package."""

    key: Annotated[str, matching("^[A-Z0-9-]{1,16}$", 16), Field(description="Key in the package.")]
    title: Annotated[str, text(1, 200), Field(description="Title.")]
    due_on: Annotated[Day, Field(description="Due date.")]
    percent: Annotated[Percent, Field(description="Share of the package value.")]
    milestone_id: Annotated[UUID | None, Field(description="Contract milestone it serves.")] = None
    handover_days: Annotated[
        Annotated[int, whole(0, 365)], Field(description="Working days before that milestone.")
    ] = 3
    accepted_on: Annotated[Day | None, Field(description="Date of your acceptance.")] = None
    rejections: Annotated[
        Annotated[int, whole(0, 100)], Field(description="Number of rejections.")
    ] = 0
    invoiced_on: Annotated[Day | None, Field(description="Date of the supplier's invoice.")] = None
    paid_on: Annotated[Day | None, Field(description="Date of your payment.")] = None


PackageMilestones = Annotated[
    list[PackageMilestoneBody],
    Field(max_length=50, description="Milestones of a package. Percentages must add up to 100."),
]


class AddSupplierCoordination(Body):
    """A package or matter. Send either `supplierId` or `supplierName`."""

    kind: Annotated[Kind, Field(description="Package or matter.")]
    supplier_id: Annotated[UUID | None, Field(description="Supplier on the platform.")] = None
    supplier_name: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Name of an external supplier.")
    ] = None
    title: Annotated[str, text(1, 200), Field(description="Title.")]
    text: Text = None
    due_on: DueOn = None
    value: Annotated[
        PositiveMoney | None, Field(description="Value of a package, VAT included.")
    ] = None
    pay_days: Annotated[
        Annotated[int, whole(0, 365)], Field(description="Payment period in days.")
    ] = _PAY_DAYS
    package_milestones: PackageMilestones = []
    final_cost: FinalCost = None
    quote_ref: Annotated[ContractReference | None, Field(description="Quote it is based on.")] = (
        None
    )
    override_reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Reason for choosing a blocked supplier."),
    ] = None

    def to_fields(self) -> dict[str, Any]:
        _check(self)
        return {
            "kind": self.kind,
            "supplier_id": self.supplier_id,
            "supplier_name": self.supplier_name,
            "title": self.title,
            "text": self.text,
            "due_on": self.due_on,
            "value": self.value,
            "final_cost": self.final_cost,
            "pay_days": self.pay_days,
            "package_milestones": _stored(self.package_milestones),
            "quote_ref": None if self.quote_ref is None else self.quote_ref.to_row(),
            "override_reason": self.override_reason,
        }


class MoveSupplierCoordination(Body):
    """A move of a package or matter."""

    verb: Annotated[
        Literal["acknowledge", "start", "resolve", "close", "cancel"],
        Field(description="Move to make."),
    ]
    reason: Annotated[Annotated[str, text(1, 500)] | None, Field(description="Reason.")] = None
    waive_payment: Annotated[
        bool, Field(description="Close before everything is paid. Needs a reason.")
    ] = False


class ChangeSupplierCoordination(Body):
    """Fields to update, and at most one move."""

    title: Annotated[str, text(1, 200), Field(description="Title.")] = "unchanged"
    text: Text = None
    due_on: DueOn = None
    value: Annotated[
        PositiveMoney | None,
        Field(
            description="Value, VAT included. Can be changed while the status is `open` and "
            "nothing is invoiced or paid."
        ),
    ] = None
    package_milestones: PackageMilestones = []
    final_cost: FinalCost = None
    move: Annotated[MoveSupplierCoordination | None, Field(description="Move to make.")] = None


class PackageMilestoneView(View):
    """One milestone of a package."""

    key: Annotated[str, Field(description="Key in the package.")]
    title: Annotated[str, Field(description="Title.")]
    due_on: Annotated[date, Field(description="Due date.")]
    percent: Annotated[Decimal, Field(description="Share of the package value.")]
    milestone_id: Annotated[UUID | None, Field(description="Contract milestone it serves.")]
    handover_days: Annotated[int, Field(description="Working days before that milestone.")]
    accepted_on: Annotated[date | None, Field(description="Date of your acceptance.")]
    rejections: Annotated[int, Field(description="Number of rejections.")]
    invoiced_on: Annotated[date | None, Field(description="Date of the supplier's invoice.")]
    paid_on: Annotated[date | None, Field(description="Date of your payment.")]


class SupplierTrustView(View):
    """Trust in the supplier when the package was added."""

    state: Annotated[str, Field(description="Trust state, or `unknown`.")]
    effects: Annotated[list[str], Field(description="Effects of the trust state.")]
    as_of: Annotated[datetime | None, Field(description="Time of the check.")]


class SupplierCoordinationView(Stored):
    """A package or matter with a supplier."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract it belongs to.")]
    kind: Annotated[Kind, Field(description="Package or matter.")]
    supplier_id: Annotated[UUID | None, Field(description="Supplier on the platform.")]
    supplier_name: Annotated[str | None, Field(description="Name of an external supplier.")]
    title: Annotated[str, Field(description="Title.")]
    text: Annotated[str | None, Field(description="Description.")]
    due_on: Annotated[date | None, Field(description="Due date.")]
    value: Annotated[Money | None, Field(description="Value, VAT included.")]
    share_percent: Annotated[
        Decimal | None, Field(description="Share of the current contract value.")
    ]
    final_cost: Annotated[Money | None, Field(description="Final cost of the package.")]
    pay_days: Annotated[int, Field(description="Payment period in days.")]
    package_milestones: Annotated[list[PackageMilestoneView], Field(description="Milestones.")]
    quote_ref: Annotated[ContractReferenceView | None, Field(description="Quote it is based on.")]
    override_reason: Annotated[
        str | None, Field(description="Reason for choosing a blocked supplier.")
    ]
    trust: Annotated[SupplierTrustView | None, Field(description="Trust. Null for matters.")]
    status: CoordinationStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/contracts/supplier-coordination/{self.id}"


@router.post(
    "/contracts/workspaces/{workspaceId}/supplier-coordination",
    status_code=201,
    responses=problems(RuleViolated, SupplierBlocked, SubcontractLimit, ContractOver),
)
async def add_supplier_coordination(
    workspace_id: WorkspaceId,
    body: AddSupplierCoordination,
    work: Annotated[Work, writes(Permission.COORDINATION_CREATE)],
) -> SupplierCoordinationView:
    """Add a package of work for a supplier, or a matter to settle with a supplier.

    The contract terms can limit the share that is subcontracted. A blocked supplier needs
    `overrideReason`. Without information about the supplier, its trust is `unknown`.
    """
    record = await suppliers.add_coordination(work, workspace_id, body.to_fields())
    return await _view(work, record)


@router.get("/contracts/supplier-coordination")
async def list_supplier_coordination(
    read: Annotated[Reader, reads(Permission.COORDINATION_READ)],
    page: Annotated[Paged, paged("dueOn", "createdAt", default="-createdAt")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[CoordinationStatus | None, Query(description="Filter by status.")] = None,
    kind: Annotated[Kind | None, Query(description="Filter by kind.")] = None,
) -> PageOf[SupplierCoordinationView]:
    """List packages and matters, newest first."""
    found = await suppliers.list_coordination(
        read, page, workspace_id=workspace_id, status=status, kind=kind
    )
    values = await suppliers.values_of(read, [one.workspace_id for one in found.items])
    return PageOf[SupplierCoordinationView].of(
        found, lambda one: _shown(one, values[one.workspace_id], read.now)
    )


@router.get("/contracts/supplier-coordination/{coordinationId}")
async def get_supplier_coordination(
    coordination_id: CoordinationId,
    read: Annotated[Reader, reads(Permission.COORDINATION_READ)],
) -> SupplierCoordinationView:
    """Get a package or matter."""
    return await _view(read, await read.get(Coordination, coordination_id))


@router.patch(
    "/contracts/supplier-coordination/{coordinationId}",
    responses=problems(RuleViolated, Conflict, ContractOver, InvalidTransition, SubcontractLimit),
)
async def change_supplier_coordination(
    coordination_id: CoordinationId,
    body: ChangeSupplierCoordination,
    work: Annotated[Work, writes(Permission.COORDINATION_UPDATE)],
) -> SupplierCoordinationView:
    """Update a package or matter and make at most one move.

    The value can be corrected while the status is `open` and nothing is invoiced or paid.
    Accept all milestones of a package before you resolve it. Pay them, or waive payment with a
    reason, before you close it.
    """
    fields: dict[str, Any] = body.changes()
    asked = fields.pop("move", None)
    if "value" in fields and body.value is None:
        raise missing("/value", "This field cannot be null.")
    if "package_milestones" in fields:
        fields["package_milestones"] = _stored(body.package_milestones)
    move = None
    if asked is not None:
        move = CoordinationMove(asked.verb, asked.reason, asked.waive_payment)
    record = await suppliers.change_coordination(work, coordination_id, fields=fields, move=move)
    return await _view(work, record)


async def _view(read: Reader, record: Coordination) -> SupplierCoordinationView:
    values = await suppliers.values_of(read, [record.workspace_id])
    return _shown(record, values[record.workspace_id], read.now)


def _shown(record: Coordination, contract_minor: int, now: datetime) -> SupplierCoordinationView:
    value, cost = record.value_minor, record.final_cost_minor
    more = {
        "value": None if value is None else Money(value, record.currency),
        "final_cost": None if cost is None else Money(cost, record.currency),
        "share_percent": None if value is None else suppliers.share_of(value, contract_minor),
        "package_milestones": package_of_rows(record.package_milestones),
        "allowed_moves": CoordinationLifecycle.allowed(record, now),
    }
    return SupplierCoordinationView.model_validate(record.__dict__ | more)


def _stored(milestones: list[PackageMilestoneBody]) -> list[dict[str, Any]]:
    return rows_of_package([PackageMilestone(**one.model_dump()) for one in milestones])


def _check(body: AddSupplierCoordination) -> None:
    """A supplier is named once, and a package has a value and milestones."""
    if (body.supplier_id is None) == (body.supplier_name is None):
        raise missing("/supplierId", "Send either `supplierId` or `supplierName`.")
    if body.kind == "package" and body.value is None:
        raise missing("/value", "A package needs a value.")
    if body.kind == "package" and not body.package_milestones:
        raise missing("/packageMilestones", "A package needs at least one milestone.")
