"""Numbers and policies that an operator may turn, each in force from a day on.

What is deployed stands in content/catalogue.json; policies that Administration publishes become
further rows (later). A value is read in the unit of work that needs it.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, select

from thenga.domains.billing.tables import ConfigurationValue, Interval
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.money import Money

_IN_FORCE = (
    select(ConfigurationValue)
    .where(
        ConfigurationValue.key == bindparam("key"),
        ConfigurationValue.effective_from <= bindparam("on"),
    )
    .order_by(ConfigurationValue.effective_from.desc())
)


@dataclass(frozen=True, slots=True)
class PausePolicy:
    """The bounds of `billing.pause`."""

    max_days: int = 90
    max_in_a_year: int = 2
    notice_days: int = 3


@dataclass(frozen=True, slots=True)
class TrialPolicy:
    """The numbers of `billing.trial`."""

    days: int = 14
    notice_days: int = 3


async def setting(read: Reader, key: str, on: date) -> Any:
    """The value of a key on a day; a key that is not deployed is a defect."""
    return (await setting_row(read, key, on)).value


async def setting_row(read: Reader, key: str, on: date) -> ConfigurationValue:
    """As `setting`, with the day from which it counts."""
    found = await read.select_prepared(_IN_FORCE, limit=1, key=key, on=on)
    if not found:
        raise LookupError(f"{key} is not configured for {on}")
    return found[0]


async def vat_rate(read: Reader, on: date) -> Decimal:
    """The rate in per cent, by the law of that day (BIL-5)."""
    return Decimal(await setting(read, "law.vat.rate", on))


async def trial_policy(read: Reader, on: date) -> TrialPolicy:
    value = await setting(read, "billing.trial", on)
    return TrialPolicy(days=value["days"], notice_days=value["noticeDays"])


@dataclass(frozen=True, slots=True)
class UsagePolicy:
    """The numbers of `billing.usage`."""

    thresholds: tuple[int, ...]
    min_invoice: Money


async def usage_policy(read: Reader, on: date) -> UsagePolicy:
    value = await setting(read, "billing.usage", on)
    return UsagePolicy(tuple(value["thresholds"]), Money.of(value["minInvoice"]))


async def renewal_notice_days(read: Reader, interval: Interval, on: date) -> int:
    """How many days before a renewal it is announced (BIL-14)."""
    return int((await setting(read, "billing.renewal.notice_days", on))[interval.value])


async def pause_policy(read: Reader, on: date) -> PausePolicy:
    value = await setting(read, "billing.pause", on)
    return PausePolicy(
        max_days=value["maxDays"],
        max_in_a_year=value["maxInAYear"],
        notice_days=value["noticeDays"],
    )


async def full_refund_days(read: Reader, on: date) -> int:
    """Within how many days of the first payment a cancellation gives all of it back (BIL-8)."""
    return int((await setting(read, "billing.cancellation", on))["fullRefundDays"])
