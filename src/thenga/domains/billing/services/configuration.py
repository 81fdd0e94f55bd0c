"""Numbers and policies that an operator may turn, each in force from a day on.

What is deployed stands in content/catalogue.json; policies that Administration publishes become
further rows (later). A value is read in the unit of work that needs it.
"""

from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from thenga.domains.billing.services.trial_calendar import TrialPolicy
from thenga.domains.billing.tables import ConfigurationValue
from thenga.kernel.db.reader import Reader


async def in_force(read: Reader, key: str, on: date) -> Any:
    """The value of a key on a day; a key that is not deployed is a defect."""
    statement = (
        select(ConfigurationValue)
        .where(ConfigurationValue.key == key, ConfigurationValue.effective_from <= on)
        .order_by(ConfigurationValue.effective_from.desc())
    )
    found = await read.all(statement, limit=1)
    if not found:
        raise LookupError(f"{key} is not configured for {on}")
    return found[0].value


async def vat_rate(read: Reader, on: date) -> Decimal:
    """The rate in per cent, by the law of that day (BIL-5)."""
    return Decimal(await in_force(read, "law.vat.rate", on))


async def trial(read: Reader, on: date) -> TrialPolicy:
    value = await in_force(read, "billing.trial", on)
    return TrialPolicy(days=value["days"], notice_days=value["noticeDays"])
