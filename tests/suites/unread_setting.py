"""A module with the mistakes that the sweep over settings must find."""

from thenga.domains.billing.settings import TRIAL
from thenga.kernel.db import configuration
from thenga.kernel.db.configuration import value
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare import law


async def rates(read: Reader, key: str) -> list[object]:
    known = {"trial": TRIAL}
    return [
        await configuration.value(read, law.VAT_RATE),
        await configuration.in_force(read, TRIAL),
        await value(read, known[key]),
    ]
