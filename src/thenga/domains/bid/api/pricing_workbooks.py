"""Pricing workbooks of bids."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.api.findings import BidFindingView
from thenga.domains.bid.api.parameters import WorkspaceId
from thenga.domains.bid.api.pricing_fields import (
    ChangeWorkbook,
    fields_of,
)
from thenga.domains.bid.api.references import BidReferenceView
from thenga.domains.bid.lifecycles import WorkbookLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import approvals, forms, pricing
from thenga.domains.bid.services.pricing import (
    GoalsExceedAllocation,
    Picture,
    RatePrecision,
    VatStatus,
)
from thenga.domains.bid.services.workspaces import BidAlreadySubmitted, BidSealed
from thenga.domains.bid.tables import Workbook, WorkbookStatus, Workspace
from thenga.domains.bid.values.prices import Basis, ItemKind, ItemVat
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, Duplicate, RuleViolated, StaleVersion
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.exports import AS_FILE, AsCsv, csv_file
from thenga.kernel.http.reference import problems
from thenga.kernel.values.money import Money

router = make_router("Bid / Pricing workbooks")


class WorkbookItemView(View):
    """A price item with its amount."""

    position: Annotated[int, Field(description="Position in the bill.")]
    section: Annotated[str | None, Field(description="Section of the bill.")]
    description: Annotated[str, Field(description="Description.")]
    unit: Annotated[str | None, Field(description="Unit of measurement.")]
    kind: Annotated[ItemKind, Field(description="How the item is measured.")]
    quantity: Annotated[Decimal | None, Field(description="Quantity.")]
    unit_rate: Annotated[
        Decimal | None, Field(description="Rate in rand. For a percentage, the percentage.")
    ]
    cost: Annotated[Decimal | None, Field(description="Cost of one unit in rand.")]
    markup_percent: Annotated[Decimal | None, Field(description="Mark-up on the cost in per cent.")]
    percent_of: Annotated[list[str], Field(description="Items that a percentage applies to.")]
    vat: Annotated[ItemVat, Field(description="VAT treatment.")]
    quote_ref: Annotated[BidReferenceView | None, Field(description="Quote it is based on.")]
    amount: Annotated[Money, Field(description="Quantity times rate, rounded to cents.")]


class WorkbookTotalsView(View):
    """Totals of a price."""

    items: Annotated[Money, Field(description="Sum of the items.")]
    discount: Annotated[Money, Field(description="Unconditional discount.")]
    net: Annotated[Money, Field(description="Price excluding VAT.")]
    vat: Annotated[Money, Field(description="VAT.")]
    total: Annotated[Money, Field(description="Price including VAT.")]
    cost: Annotated[Money | None, Field(description="Cost. Null while a cost is missing.")]
    margin_percent: Annotated[Decimal | None, Field(description="Margin in per cent of net.")]


class WorkbookScoreView(View):
    """Points and rank of an offer in the scenario."""

    key: Annotated[str, Field(description="`ours`, or the label of a rival.")]
    price_points: Annotated[Decimal, Field(description="Points for price.")]
    goals: Annotated[Decimal, Field(description="Points for specific goals.")]
    total: Annotated[Decimal, Field(description="Total points, rounded once.")]
    rank: Annotated[int, Field(description="Rank among the acceptable offers.")]
    tie: Annotated[str | None, Field(description="How equal totals are ranked.")]


class WorkbookPointsView(View):
    """Preference points by the statutory formula."""

    system: Annotated[str, Field(description="System that applies: 80_20 or 90_10.")]
    reference: Annotated[Money, Field(description="Price that the others are compared with.")]
    scores: Annotated[list[WorkbookScoreView], Field(description="Offers by rank.")]


class WorkbookCashGapView(View):
    """Days that the company must finance until it is paid."""

    paid_after_days: Annotated[int, Field(description="Days from invoice to payment.")]
    days: Annotated[int, Field(description="Days to finance.")]


class WorkbookCashView(View):
    """Cash that the bid needs before the buyer pays. Indicative."""

    missing: Annotated[list[str], Field(description="Missing inputs.")]
    need: Annotated[Money | None, Field(description="Cost less deposit and supplier credit.")]
    deposit: Annotated[Money | None, Field(description="Deposit from the buyer.")]
    supplier_credit: Annotated[Money | None, Field(description="Credit from suppliers.")]
    retention: Annotated[Money | None, Field(description="Retention, paid on release.")]
    paid: Annotated[Money | None, Field(description="Total less retention.")]
    gaps: Annotated[
        list[WorkbookCashGapView],
        Field(description="Days to finance. Empty while inputs are missing."),
    ]


class CashReceiptView(View):
    """Part of the price and when it is expected."""

    amount: Annotated[Decimal, Field(description="Amount in rand.")]
    due_on: Annotated[date | None, Field(description="Expected date.")] = None


class CashCostView(View):
    """A cost and when it must be paid."""

    amount: Annotated[Decimal, Field(description="Amount in rand.")]
    pay_by: Annotated[date | None, Field(description="Latest payment date.")] = None


class CashTermsView(View):
    """Expected payments and costs if the bid is won."""

    start_on: Annotated[date | None, Field(description="First day of the work.")]
    deposit_percent: Annotated[Decimal | None, Field(description="Deposit from the buyer.")]
    delivery_days: Annotated[int | None, Field(description="Days until delivery.")]
    acceptance_days: Annotated[int | None, Field(description="Days from delivery to acceptance.")]
    supplier_credit_percent: Annotated[
        Decimal | None, Field(description="Share of the cost that suppliers give on credit.")
    ]
    supplier_terms_days: Annotated[int | None, Field(description="Days of supplier credit.")]
    retention_percent: Annotated[Decimal | None, Field(description="Retention.")]
    cession: Annotated[bool | None, Field(description="Whether payments can be ceded.")]
    milestones: Annotated[list[CashReceiptView], Field(description="Expected payments.")]
    costs: Annotated[list[CashCostView], Field(description="Expected costs.")]


class GoalClaimView(View):
    """Points claimed for a goal in either system."""

    claim_8020: Annotated[Decimal | None, Field(description="Points under 80/20.")] = None
    claim_9010: Annotated[Decimal | None, Field(description="Points under 90/10.")] = None


class RivalOfferView(View):
    """Offer of a competitor, as far as known."""

    label: Annotated[str, Field(description="Name of the competitor.")]
    price: Annotated[Decimal, Field(description="Price including VAT, in rand.")]
    goals: Annotated[Decimal | None, Field(description="Points for specific goals.")] = None
    functionality: Annotated[Decimal | None, Field(description="Points for functionality.")] = None
    acceptable: Annotated[bool, Field(description="Whether the offer is responsive.")] = True


class PriceScenarioView(View):
    """Offers that the price is compared with."""

    contract: Annotated[str | None, Field(description="Kind of contract.")] = None
    our_goals: Annotated[dict[str, GoalClaimView], Field(description="Our points by goal.")] = {}
    rivals: Annotated[list[RivalOfferView], Field(description="Other offers.")] = []


class WorkbookView(Stored):
    """A version of the price of a bid."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    status: WorkbookStatus
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the status change.")]
    status_changed_by: Annotated[UUID | None, Field(description="User who changed the status.")]
    version_number: Annotated[int, Field(description="Number of the version shown.")]
    content_sha256: Annotated[str, Field(description="SHA-256 of the content to approve.")]
    basis: Annotated[Basis, Field(description="Whether rates include VAT.")]
    rate_decimals: Annotated[int, Field(description="Maximum decimals of a rate.")]
    boq_document_ref: Annotated[
        BidReferenceView | None, Field(description="Bill of quantities from the buyer.")
    ]
    items: Annotated[dict[str, WorkbookItemView], Field(description="Items by key.")]
    discount_percent: Annotated[Decimal | None, Field(description="Discount in per cent.")]
    discount_amount: Annotated[Decimal | None, Field(description="Discount in rand.")]
    conditional_discounts: Annotated[
        list[str], Field(description="Conditional discounts. They do not count in scoring.")
    ]
    validity_days: Annotated[int | None, Field(description="Validity of the offer in days.")]
    cash_terms: Annotated[CashTermsView, Field(description="Cash terms.")]
    scenario: Annotated[PriceScenarioView | None, Field(description="Offers to compare with.")]
    totals: Annotated[WorkbookTotalsView, Field(description="Totals.")]
    vat_status: Annotated[VatStatus, Field(description="Whether the company is a VAT vendor.")]
    vat_percent: Annotated[Decimal, Field(description="VAT rate on the closing date.")]
    findings: Annotated[list[BidFindingView], Field(description="Problems and risks.")]
    points: Annotated[WorkbookPointsView | None, Field(description="Preference points.")]
    cash_picture: Annotated[WorkbookCashView, Field(description="Cash needed before payment.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/workspaces/{self.workspace_id}/pricing-workbook"

    @classmethod
    def of(
        cls, workbook: Workbook, picture: Picture, read: Reader, *, number: int
    ) -> "WorkbookView":
        content = picture.content
        more: dict[str, Any] = {
            "status_reason": workbook.status_text or workbook.status_code,
            "version_number": number,
            "content_sha256": content.sha256(),
            "basis": content.basis,
            "rate_decimals": content.rate_decimals,
            "boq_document_ref": content.boq_document_ref,
            "items": _items(picture),
            "discount_percent": content.discounts.percent,
            "discount_amount": content.discounts.amount,
            "conditional_discounts": [one["text"] for one in content.discounts.conditional],
            "validity_days": content.validity_days,
            "cash_terms": content.cash_terms,
            "scenario": content.scenario,
            "totals": picture.priced.totals,
            "vat_status": picture.vat_status,
            "vat_percent": picture.vat_percent,
            "findings": [BidFindingView.of(one) for one in picture.findings],
            "points": picture.points,
            "cash_picture": picture.cash,
            "allowed_moves": WorkbookLifecycle.allowed(workbook, read.now),
        }
        return cls.model_validate(workbook.__dict__ | more)


def _items(picture: Picture) -> dict[str, WorkbookItemView]:
    return {
        key: WorkbookItemView(
            position=item.position,
            section=item.section,
            description=item.description,
            unit=item.unit,
            kind=item.kind,
            quantity=item.quantity,
            unit_rate=picture.priced.rates[key],
            cost=item.cost,
            markup_percent=item.markup_percent,
            percent_of=list(item.percent_of),
            vat=item.vat,
            quote_ref=None
            if item.quote_ref is None
            else BidReferenceView.model_validate(dict(item.quote_ref)),
            amount=picture.priced.amounts[key],
        )
        for key, item in picture.content.in_order()
    }


@router.post(
    "/bids/workspaces/{workspaceId}/pricing-workbook",
    status_code=201,
    responses=problems(
        *(Duplicate, RatePrecision, GoalsExceedAllocation, RuleViolated, Conflict),
        *(BidSealed, BidAlreadySubmitted),
    ),
)
async def create_workbook(
    workspace_id: WorkspaceId,
    body: ChangeWorkbook,
    work: Annotated[Work, writes(Permission.PRICING_CREATE)],
) -> WorkbookView:
    """Create the pricing workbook of a bid. Each workspace has one."""
    made = await pricing.create(work, workspace_id, fields_of(body))
    return WorkbookView.of(made.workbook, made.picture, work, number=1)


@router.get("/bids/workspaces/{workspaceId}/pricing-workbook", responses=AS_FILE)
async def get_workbook(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.PRICING_READ)],
    as_csv: AsCsv,
    version_number: Annotated[
        int | None,
        Query(
            alias="versionNumber",
            ge=1,
            le=1_000_000,
            description="Version to show. Defaults to the current one.",
        ),
    ] = None,
) -> WorkbookView:
    """Retrieve the price. `Accept: text/csv` returns its items as a file. Reads are audited."""
    shown = await pricing.get_workbook(read, workspace_id, version_number=version_number)
    if as_csv:
        return csv_file(  # type: ignore[return-value]  # the door sends it as it is
            "price",
            pricing.CSV_HEADER,
            pricing.csv_rows(shown.picture),
            time_zone="Africa/Johannesburg",
        )
    return WorkbookView.of(shown.workbook, shown.picture, read, number=shown.version.number)


@router.patch(
    "/bids/workspaces/{workspaceId}/pricing-workbook",
    responses=problems(
        *(RatePrecision, GoalsExceedAllocation, RuleViolated, StaleVersion, Conflict),
        *(BidSealed, BidAlreadySubmitted),
    ),
)
async def change_workbook(
    workspace_id: WorkspaceId,
    body: ChangeWorkbook,
    work: Annotated[Work, writes(Permission.PRICING_UPDATE, if_match=True)],
) -> WorkbookView:
    """Change items, discount and terms. Set an item to null to remove it.

    Each change creates a new version. If the price changes, its approval is voided and forms that
    state it become out of date.
    """
    changed = await pricing.change(work, workspace_id, fields_of(body))
    if changed.priced:
        await approvals.void_for(work, workspace_id, "price_changed")
        workspace = await work.get(Workspace, workspace_id)
        await forms.outdate_for(work, workspace, "price_changed")
    number = changed.workbook.version_number
    return WorkbookView.of(changed.workbook, changed.picture, work, number=number)
