"""A workbook with everything that follows from it: sums, findings, points and cash picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from thenga.domains.bid import settings
from thenga.domains.bid.services.pricing import arithmetic, cash, findings, points
from thenga.domains.bid.services.pricing.arithmetic import Priced, VatStatus
from thenga.domains.bid.services.pricing.cash import CashPicture
from thenga.domains.bid.services.pricing.findings import Limits
from thenga.domains.bid.services.pricing.points import Offer, Ranking
from thenga.domains.bid.tables import TenderRef, Workbook
from thenga.domains.bid.values.findings import Finding
from thenga.domains.bid.values.form_sheets import spaced
from thenga.domains.bid.values.prices import Content, ItemVat
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare import law
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

OURS = "ours"


@dataclass(frozen=True, slots=True)
class Picture:
    """A version of a workbook, computed."""

    content: Content
    priced: Priced
    vat_status: VatStatus
    vat_ref: Mapping[str, Any] | None
    vat_percent: Decimal
    findings: Sequence[Finding]
    points: Ranking | None
    cash: CashPicture


@dataclass(frozen=True, slots=True)
class CurrentPrice:
    """The price of a workspace in short; for those who may see prices."""

    workbook_id: UUID
    version_number: int
    content_sha256: str
    status: str
    total: Money


async def current_price(read: Reader, workspace_id: UUID) -> CurrentPrice | None:
    """The total of the current version, or nothing where there is no workbook."""
    workbook = await read.find(Workbook, workspace_id=workspace_id)
    if workbook is None or workbook.total_minor is None:
        return None
    return CurrentPrice(
        workbook_id=workbook.id,
        version_number=workbook.version_number,
        content_sha256=workbook.content_sha256,
        status=workbook.status.value,
        total=Money(workbook.total_minor, "ZAR"),
    )


async def computed(
    read: Reader, content: Content, terms: Mapping[str, Any], tender: TenderRef | None
) -> Picture:
    """Compute a version by its own VAT terms and the limits in force on the closing day."""
    closing = None if tender is None else tender.closing_at
    on = None if closing is None else local_day(closing)
    status, percent = VatStatus(terms["vat_status"]), Decimal(terms["vat_percent"])
    priced = arithmetic.compute(content, vat_percent=percent, vat_status=status)
    picture = cash.picture(priced.totals, content.cash_terms)
    rules = await configuration.value(read, settings.PRICE_RULES)
    limits = Limits(
        vat_percent=percent,
        vat_compulsory=await configuration.value(read, law.VAT_COMPULSORY, on=on),
        least_margin=rules.min_margin_percent,
        tender_validity_days=None if tender is None else tender.validity_days,
    )
    return Picture(
        content=content,
        priced=priced,
        vat_status=status,
        vat_ref=terms["vat_ref"],
        vat_percent=percent,
        findings=findings.check(content, priced, picture, vat_status=status, limits=limits),
        points=await _points(read, content, priced.totals.total, tender),
        cash=picture,
    )


async def _points(
    read: Reader, content: Content, total: Money, tender: TenderRef | None
) -> Ranking | None:
    """Where the bid would stand in its scenario; nothing without one, or without a system."""
    scenario, preference = content.scenario, _preference(tender)
    if scenario is None or preference is None:
        return None
    claims: Mapping[str, Any] = scenario.get("our_goals", {})
    ours = Offer(
        OURS,
        total,
        sum((Decimal(one.get("claim_8020") or 0) for one in claims.values()), start=Decimal(0)),
        sum((Decimal(one.get("claim_9010") or 0) for one in claims.values()), start=Decimal(0)),
    )
    rivals = [_rival(number, one) for number, one in enumerate(scenario.get("rivals", ()), 1)]
    return points.rank(
        [ours, *rivals],
        system=preference["system"],
        contract=scenario.get("contract") or preference["contract"],
        threshold=await configuration.value(read, law.PREFERENCE_THRESHOLD),
        clamp_at_zero=await configuration.value(read, settings.CLAMP_POINTS),
    )


def _rival(number: int, one: Mapping[str, Any]) -> Offer:
    goals = Decimal(one.get("goals") or 0)
    functionality = one.get("functionality")
    return Offer(
        one.get("label") or f"rival {number}",
        Money.of(one["price"]),
        goals,
        goals,
        None if functionality is None else Decimal(functionality),
        acceptable=one.get("acceptable", True),
    )


def _preference(tender: TenderRef | None) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = None if tender is None else tender.terms.get("preference")
    return found


def goals_of(tender: TenderRef | None) -> Sequence[Mapping[str, Any]]:
    """The specific goals of a tender with their points."""
    goals: Sequence[Mapping[str, Any]] = (_preference(tender) or {}).get("goals", ())
    return goals


def lines_with_tax(picture: Picture) -> list[dict[str, str]]:
    """Each item with its share of the total, all taxes included and discounts taken off, so that
    the lines add up to the total to the cent."""
    rows = [(key, item) for key, item in picture.content.in_order() if item.kind != "heading"]
    exclusive = picture.content.basis == "vat_exclusive"
    taxed = picture.vat_status is not VatStatus.NON_VENDOR and exclusive
    weights = []
    for key, item in rows:
        amount = Decimal(max(picture.priced.amounts[key].minor, 0))
        vat = picture.vat_percent if taxed and item.vat is ItemVat.STANDARD else Decimal(0)
        weights.append(amount * (100 + vat))
    total = picture.priced.totals.total
    shares = total.share(weights) if any(weights) else [Money(0, total.currency)] * len(rows)
    return [
        {
            "key": key,
            "quantity": _quantity(item.quantity, item.unit),
            "description": item.description,
            "price": "rate only" if item.kind == "rate_only" else spaced(share.amount),
        }
        for (key, item), share in zip(rows, shares, strict=True)
    ]


def _quantity(quantity: Decimal | None, unit: str | None) -> str:
    shown = "" if quantity is None else format(quantity.normalize(), "f")
    return f"{shown} {unit or ''}".strip()


CSV_HEADER = (
    *("Item", "Section", "Description", "Unit", "Kind"),
    *("Quantity", "Rate", "Amount", "VAT"),
)


def csv_rows(picture: Picture) -> list[tuple[str | Decimal | Money | None, ...]]:
    """The price as rows of a table: the items in order, then the sums."""
    rows: list[tuple[str | Decimal | Money | None, ...]] = []
    for key, item in picture.content.in_order():
        rows.append(
            (
                *(key, item.section, item.description, item.unit, item.kind.value),
                *(item.quantity, picture.priced.rates[key], picture.priced.amounts[key]),
                item.vat.value,
            )
        )
    totals = picture.priced.totals
    for label, amount in (
        ("Items", totals.items),
        ("Discount", totals.discount),
        ("Net", totals.net),
        ("VAT", totals.vat),
        ("Total", totals.total),
    ):
        rows.append((None, None, label, None, None, None, None, amount, None))
    return rows
