"""Tenant cards: the plan and the mode of an organization, as their domains announced them."""

from datetime import datetime

from thenga.domains.administration.tables import TenantCard
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work

_MODE = """
    INSERT INTO administration.tenant_card
        (id, organization_id, created_at, updated_at, version, sandbox)
    VALUES ($1, $1, $2, $2, 1, $3)
    ON CONFLICT (organization_id, id) DO UPDATE SET sandbox = EXCLUDED.sandbox, updated_at = $2
"""
_PLAN = """
    INSERT INTO administration.tenant_card AS known
        (id, organization_id, created_at, updated_at, version, plan_code, plan_at)
    VALUES ($1, $1, $2, $2, 1, $3, $4)
    ON CONFLICT (organization_id, id) DO UPDATE
    SET plan_code = EXCLUDED.plan_code, plan_at = EXCLUDED.plan_at, updated_at = $2
    WHERE known.plan_at IS NULL OR known.plan_at <= EXCLUDED.plan_at
"""


async def keep_mode(work: Work, *, sandbox: bool) -> None:
    """An organization was created."""
    await work.run(_MODE, work.organization_id, work.now, sandbox)


async def keep_plan(work: Work, *, plan_code: str | None, at: datetime) -> None:
    """An organization has another plan, or none; what is older than the known one is ignored."""
    await work.run(_PLAN, work.organization_id, work.now, plan_code, at)


async def is_sandbox(read: Reader) -> bool:
    """Whether the organization is a sandbox; its support cases follow its own clock."""
    card = await read.find(TenantCard, id=read.organization_id)
    if card is None or card.sandbox is None:
        raise LookupError("this organization was not announced yet")
    return card.sandbox
