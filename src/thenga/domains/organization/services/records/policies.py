"""Numbers and switches that an operator may turn, with their defaults; keys begin `organization.`

A value is read in the unit of work that needs it, so a change is in force for the next one.
"""

from typing import Any

from sqlalchemy import select

from thenga.domains.organization.tables import PolicyValue
from thenga.kernel.db.reader import Reader

DEFAULTS: dict[str, Any] = {
    "review.mode": "none",
    "perUser.max": 10,
    "sources.rank": {
        "cipc_register": 90,
        "csd_report": 80,
        "verified_document": 70,
        "customer": 50,
        "import": 40,
    },
    "sources.autoResolve": [
        "registrationNumber",
        "legalName",
        "registrationStatus",
        "registrationDate",
    ],
    "verify.allowMembers": False,
    "suggestion.days": 60,
    "identifiers.vatLuhn": True,
    "bankChange.holdHours": 24,
}


async def current_policy(read: Reader, key: str) -> Any:
    """The value in force for one key."""
    return (await policy_of(read, key))[key]


async def policy_of(read: Reader, *keys: str) -> dict[str, Any]:
    """The values in force for several keys, in one statement."""
    rows = await read.all(select(PolicyValue))
    turned = {row.key: row.value for row in rows}
    return {key: turned.get(key, DEFAULTS[key]) for key in keys}
