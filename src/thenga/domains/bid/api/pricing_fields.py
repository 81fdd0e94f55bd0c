"""What a client sends of a price."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from thenga.domains.bid.api.references import BidReferenceBody
from thenga.domains.bid.values.prices import Basis, ItemKind, ItemVat
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, Percent, decimal, matching, text, whole

ItemKey = Annotated[str, matching("^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$", 40)]
GoalKey = Annotated[str, matching("^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$", 60)]
Quantity = Annotated[Decimal, decimal(9, 6)]
Rate = Annotated[Decimal, decimal(12, 6)]
Amount = Annotated[Decimal, decimal(12, 2)]
Markup = Annotated[Decimal, decimal(4, 2)]
Points = Annotated[Decimal, decimal(3, 2)]
DayCount = Annotated[int, whole(0, 3650)]


class WorkbookItem(Body):
    """A price item. Omitted fields stay unchanged."""

    position: Annotated[
        Annotated[int, whole(1, 100_000)] | None, Field(description="Position in the bill.")
    ] = None
    section: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Section of the bill.")
    ] = None
    description: Annotated[
        Annotated[str, text(1, 1000)] | None, Field(description="Description.")
    ] = None
    unit: Annotated[
        Annotated[str, text(1, 20)] | None, Field(description="Unit of measurement.")
    ] = None
    kind: Annotated[ItemKind | None, Field(description="How the item is measured.")] = None
    quantity: Annotated[Quantity | None, Field(description="Quantity.")] = None
    unit_rate: Annotated[
        Rate | None, Field(description="Rate in rand. For a percentage, the percentage.")
    ] = None
    cost: Annotated[Rate | None, Field(description="Cost of one unit in rand.")] = None
    markup_percent: Annotated[
        Markup | None, Field(description="Mark-up on the cost in per cent. Sets the rate.")
    ] = None
    percent_of: Annotated[
        list[ItemKey], Field(max_length=200, description="Items that a percentage applies to.")
    ] = []
    vat: Annotated[ItemVat | None, Field(description="VAT treatment.")] = None
    quote_ref: Annotated[BidReferenceBody | None, Field(description="Quote it is based on.")] = None


class CashMilestone(Body):
    """Part of the price and when it is expected."""

    amount: Annotated[Amount, Field(description="Amount in rand.")]
    due_on: Annotated[Day | None, Field(description="Expected date.")] = None


class CashCost(Body):
    """A cost and when it must be paid."""

    amount: Annotated[Amount, Field(description="Amount in rand.")]
    pay_by: Annotated[Day | None, Field(description="Latest payment date.")] = None


class CashTermsBody(Body):
    """Expected payments and costs if the bid is won."""

    start_on: Annotated[Day | None, Field(description="First day of the work.")] = None
    deposit_percent: Annotated[Percent | None, Field(description="Deposit from the buyer.")] = None
    delivery_days: Annotated[DayCount | None, Field(description="Days until delivery.")] = None
    acceptance_days: Annotated[
        DayCount | None, Field(description="Days from delivery to acceptance.")
    ] = None
    supplier_credit_percent: Annotated[
        Percent | None, Field(description="Share of the cost that suppliers give on credit.")
    ] = None
    supplier_terms_days: Annotated[
        DayCount | None, Field(description="Days of supplier credit.")
    ] = None
    retention_percent: Annotated[Percent | None, Field(description="Retention.")] = None
    cession: Annotated[bool | None, Field(description="Whether payments can be ceded.")] = None
    milestones: Annotated[
        list[CashMilestone], Field(max_length=60, description="Expected payments.")
    ] = []
    costs: Annotated[list[CashCost], Field(max_length=60, description="Expected costs.")] = []


class GoalClaim(Body):
    """Points claimed for a goal in either system."""

    claim_8020: Annotated[Points | None, Field(description="Points under 80/20.")] = None
    claim_9010: Annotated[Points | None, Field(description="Points under 90/10.")] = None


class RivalOffer(Body):
    """Offer of a competitor, as far as known."""

    label: Annotated[str, text(1, 80), Field(description="Name of the competitor.")]
    price: Annotated[Amount, Field(description="Price including VAT, in rand.")]
    goals: Annotated[Points | None, Field(description="Points for specific goals.")] = None
    functionality: Annotated[Points | None, Field(description="Points for functionality.")] = None
    acceptable: Annotated[bool, Field(description="Whether the offer is responsive.")] = True


class PriceScenario(Body):
    """Offers to compare the price with."""

    contract: Annotated[
        Literal["purchase", "income"] | None, Field(description="Kind of contract.")
    ] = None
    our_goals: Annotated[
        dict[GoalKey, GoalClaim], Field(max_length=30, description="Our points by goal.")
    ] = {}
    rivals: Annotated[list[RivalOffer], Field(max_length=20, description="Other offers.")] = []


class ChangeWorkbook(Body):
    """Content of a price. Omitted fields stay unchanged."""

    basis: Annotated[Basis | None, Field(description="Whether rates include VAT.")] = None
    rate_decimals: Annotated[
        Annotated[int, whole(2, 6)] | None, Field(description="Maximum decimals of a rate.")
    ] = None
    boq_document_ref: Annotated[
        BidReferenceBody | None, Field(description="Bill of quantities from the buyer.")
    ] = None
    items: Annotated[
        dict[ItemKey, WorkbookItem | None] | None,
        Field(max_length=5000, description="Items by key. Null removes an item."),
    ] = None
    discount_percent: Annotated[Percent | None, Field(description="Discount in per cent.")] = None
    discount_amount: Annotated[Amount | None, Field(description="Discount in rand.")] = None
    conditional_discounts: Annotated[
        list[Annotated[str, text(1, 300)]] | None,
        Field(max_length=10, description="Conditional discounts, in words."),
    ] = None
    validity_days: Annotated[
        Annotated[int, whole(1, 3650)] | None, Field(description="Validity of the offer in days.")
    ] = None
    cash_terms: Annotated[CashTermsBody | None, Field(description="Cash terms.")] = None
    scenario: Annotated[PriceScenario | None, Field(description="Offers to compare with.")] = None


def fields_of(body: ChangeWorkbook) -> dict[str, Any]:
    """The fields that the client sent, in the form that versions keep."""
    fields = body.changes()
    for name in ("basis", "rate_decimals"):
        if fields.get(name, "") is None:
            del fields[name]  # there is always one
    if "items" in fields:
        fields["items"] = {
            key: None if item is None else _item(item) for key, item in (body.items or {}).items()
        }
    if "conditional_discounts" in fields:
        given = body.conditional_discounts or []
        fields["conditional_discounts"] = [{"text": one} for one in given]
    for name in ("boq_document_ref", "scenario", "cash_terms"):
        if fields.get(name) is not None:
            fields[name] = _plain(fields[name])
    return fields


def _item(item: WorkbookItem) -> dict[str, Any]:
    fields = item.changes()
    if item.quote_ref is not None:
        fields["quote_ref"] = item.quote_ref.model_dump(mode="json", by_alias=False)
    return fields


def _plain(value: Body) -> dict[str, Any]:
    return value.model_dump(mode="json", by_alias=False, exclude_unset=True)
