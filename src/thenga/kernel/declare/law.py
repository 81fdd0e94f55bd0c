"""Values that South African law sets, with the days on which they changed; every domain may declare
them among its settings, and Administration changes them like any other."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from thenga.kernel.declare.setting import Setting, SettingModel

Percent = Annotated[Decimal, Field(ge=0, le=100)]
Rand = Annotated[Decimal, Field(ge=0, max_digits=18, decimal_places=2)]
Days = Annotated[int, Field(ge=0, le=3660)]

VAT_RATE = Setting(
    "law.vat.rate",
    Percent,
    Decimal(14),
    "VAT rate in per cent",
    since=((date(2018, 4, 1), Decimal(15)),),
)
VAT_COMPULSORY = Setting(
    "law.vat.compulsory",
    Rand,
    Decimal(1_000_000),
    "Yearly turnover in rand above which VAT registration is compulsory",
    since=((date(2026, 4, 1), Decimal(2_300_000)),),
)
PAY_DAYS = Setting(
    "law.pay.days", Days, 30, "Days within which an organ of state pays a valid invoice"
)
EXTRA_HOLIDAYS: Setting[frozenset[date]] = Setting(
    "law.calendar.extraHolidays",
    frozenset[date],
    frozenset(),
    "Public holidays proclaimed for one occasion, such as an election day",
)
PREFERENCE_THRESHOLD = Setting(
    "law.pref.system.threshold_zar",
    Rand,
    Decimal(50_000_000),
    "Tender value in rand up to which 80/20 applies, all taxes included",
)
APPEAL_DAYS = Setting(
    "law.award.appeal_days", Days, 21, "Days to appeal against an award of a municipality"
)
JURISTIC_THRESHOLD = Setting(
    "law.nca.juristic_threshold",
    Rand,
    Decimal(1_000_000),
    "Asset value or turnover in rand from which the National Credit Act leaves a company out",
)
LARGE_AGREEMENT = Setting(
    "law.nca.large_agreement",
    Rand,
    Decimal(250_000),
    "Amount in rand from which a credit agreement is large",
)


class Limit(SettingModel):
    """The lower of a share of the contract value and an amount."""

    percent: Percent
    most: Rand


class VariationLimit(SettingModel):
    """How far a public contract may grow before the variation needs a further approval."""

    works: Limit
    other: Limit


VARIATION_LIMIT = Setting(
    "law.variation.limit",
    VariationLimit,
    VariationLimit(
        works=Limit(percent=Decimal(20), most=Decimal(20_000_000)),
        other=Limit(percent=Decimal(15), most=Decimal(15_000_000)),
    ),
    "Limits on variations of public contracts",
)
