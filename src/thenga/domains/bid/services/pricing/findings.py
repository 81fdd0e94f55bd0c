"""What is wrong or risky with a price (BID-27, BID-28, BID-32, BID-36)."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from thenga.domains.bid.services.pricing import arithmetic
from thenga.domains.bid.services.pricing.arithmetic import Priced, VatStatus
from thenga.domains.bid.services.pricing.cash import CashPicture
from thenga.domains.bid.values.findings import Class, Finding
from thenga.domains.bid.values.form_sheets import spaced
from thenga.domains.bid.values.prices import Content, Item, ItemKind

_RATED = (ItemKind.MEASURED, ItemKind.LUMP_SUM, ItemKind.PERCENTAGE)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a price is compared with."""

    vat_percent: Decimal
    vat_compulsory: Decimal
    least_margin: Decimal
    tender_validity_days: int | None = None


def check(
    content: Content, priced: Priced, cash: CashPicture, *, vat_status: VatStatus, limits: Limits
) -> list[Finding]:
    """Every finding, blocking ones first."""
    found = [
        *_items(content, priced),
        *_vat(priced, vat_status, limits),
        *_margin(priced, limits),
        *_offer(content, limits),
    ]
    if cash.missing:
        named = ", ".join(_words(name) for name in cash.missing)
        found.append(
            _finding(
                "cash_picture_missing",
                Class.HIGH_RISK,
                "cash_terms",
                f"The cash picture cannot be computed without: {named}.",
                "Enter the cash terms and the cost of each item.",
            )
        )
    return sorted(found, key=lambda finding: (finding.severity is not Class.BLOCKING, finding.key))


def _items(content: Content, priced: Priced) -> Iterator[Finding]:
    if not any(item.kind is not ItemKind.HEADING for item in content.items.values()):
        yield _finding(
            "items_missing",
            Class.BLOCKING,
            "workbook",
            "The workbook has no priced item.",
            "Add the items of the buyer's bill of quantities.",
        )
    for key, item in content.in_order():
        yield from _one_item(content, priced, key, item)
    if priced.totals.net.minor < 0:
        yield _finding(
            "amount_negative",
            Class.BLOCKING,
            "workbook",
            "The discount exceeds the price.",
            "Lower the discount.",
        )


def _one_item(content: Content, priced: Priced, key: str, item: Item) -> Iterator[Finding]:
    rate, name = priced.rates[key], _named(key, item.description)
    if item.kind in _RATED and not rate:
        yield _item("rate_missing", key, f"Item {name} has no rate.", "Enter a rate.")
    if item.kind is ItemKind.MEASURED and item.quantity is None:
        remedy = "Enter the quantity in the buyer's bill of quantities."
        yield _item("quantity_missing", key, f"Item {name} has no quantity.", remedy)
    if priced.amounts[key].minor < 0:
        text = f"The amount of item {name} is negative."
        yield _item("amount_negative", key, text, "Use a discount to reduce the price.")
    first = content.first_sums.get(key)
    if item.kind is ItemKind.PROVISIONAL_SUM and first is not None and rate != Decimal(first):
        yield _item(
            "provisional_sum_altered",
            key,
            f"Provisional sum {name} differs from the sum entered first.",
            "Use the sum in the buyer's bill of quantities.",
            Class.HIGH_RISK,
        )


def _vat(priced: Priced, vat_status: VatStatus, limits: Limits) -> Iterator[Finding]:
    if vat_status is VatStatus.UNKNOWN:
        yield _finding(
            "vat_status_unknown",
            Class.BLOCKING,
            "workbook",
            "It is unknown whether the company is a VAT vendor.",
            "State in the company profile whether it is registered for VAT.",
        )
    total = priced.totals.total
    over = total.minor > int(limits.vat_compulsory * 100)
    if vat_status is VatStatus.NON_VENDOR and over:
        absorbed = arithmetic.inside(total, limits.vat_percent)
        yield _finding(
            "non_vendor_over_limit",
            Class.HIGH_RISK,
            "workbook",
            "This contract takes the company over the threshold for compulsory VAT registration. "
            f"It would then owe R {spaced(absorbed.amount)} of VAT out of this price.",
            "Decide whether to register for VAT before bidding.",
        )


def _margin(priced: Priced, limits: Limits) -> Iterator[Finding]:
    margin = priced.totals.margin_percent
    if margin is None or margin >= limits.least_margin:
        return
    below_cost = margin < 0
    yield _finding(
        "price_below_cost" if below_cost else "margin_low",
        Class.BLOCKING if below_cost else Class.HIGH_RISK,
        "workbook",
        f"The margin is {margin} %, below {0 if below_cost else limits.least_margin} %.",
        "Check costs and rates.",
    )


def _offer(content: Content, limits: Limits) -> Iterator[Finding]:
    needed, offered = limits.tender_validity_days, content.validity_days
    if needed is not None and (offered or 0) < needed:
        yield _finding(
            "validity_short",
            Class.BLOCKING,
            "workbook",
            f"The tender asks for an offer valid for {needed} days; this one is valid for "
            f"{offered or 0}.",
            "Extend the validity.",
        )
    if content.discounts.conditional:
        yield _finding(
            "conditional_discount",
            Class.HIGH_RISK,
            "workbook",
            "A conditional discount does not count when the price is scored.",
            "Make the discount unconditional, or do not rely on it.",
        )


def _item(code: str, key: str, text: str, remedy: str, severity: Class = Class.BLOCKING) -> Finding:
    return _finding(code, severity, f"item:{key}", text, remedy)


def _finding(code: str, severity: Class, subject: str, text: str, remedy: str) -> Finding:
    return Finding(code=code, severity=severity, subject=subject, text=text, remedy=remedy)


def _named(key: str, description: str) -> str:
    return f"{key} ({description[:60]})"


def _words(name: str) -> str:
    return name.replace("_", " ")
