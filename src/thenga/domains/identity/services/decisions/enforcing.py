"""The policy set that decides: the built-in policies and the access policy in force (IDN-37)."""

from uuid import UUID, uuid5

from thenga.domains.identity import settings
from thenga.domains.identity.services.decisions.policies import BASE, label_of
from thenga.domains.identity.tables import PolicySet
from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work

_SETS = UUID("019a0000-0000-7000-8000-00000000ca7a")
_SUPERSEDE = "UPDATE identity.policy_set SET status = 'superseded' WHERE label <> $1"
_ENFORCE = """
    INSERT INTO identity.policy_set (id, created_at, updated_at, version, label, status, text)
    VALUES ($1, $2, $2, 1, $3, 'enforced', $4)
    ON CONFLICT (label) DO UPDATE SET status = 'enforced'
"""


async def enforce_policies(work: Work) -> None:
    """Bring the enforced set to what is in force now; every decision after the commit uses it."""
    access = await configuration.value(work, settings.ACCESS)
    text = f"{BASE}\n{access}" if access else BASE
    label = label_of(text)
    if await work.find(PolicySet, label=label, status="enforced") is None:
        await work.run(_SUPERSEDE, label)
        await work.run(_ENFORCE, uuid5(_SETS, label), work.now, label, text)
