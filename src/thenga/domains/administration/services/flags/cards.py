"""Tenant cards: the plan and the mode of each organization, as their domains told."""

from datetime import datetime

from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

# Cards are platform rows, which a reaction in a customer's organization cannot write.
note_mode = job_stub("administration.note_mode", form=Form.QUEUED, key="{sandbox}", as_system=True)
note_plan = job_stub(
    "administration.note_plan",
    form=Form.QUEUED,
    key="{plan_code}:{at}",
    as_system=True,
)
_MODE = """
    INSERT INTO administration.tenant_card (id, created_at, updated_at, version, sandbox)
    VALUES ($1, $2, $2, 1, $3)
    ON CONFLICT (id) DO UPDATE SET sandbox = EXCLUDED.sandbox, updated_at = $2
"""
_PLAN = """
    INSERT INTO administration.tenant_card AS known
        (id, created_at, updated_at, version, plan_code, plan_at)
    VALUES ($1, $2, $2, 1, $3, $4)
    ON CONFLICT (id) DO UPDATE
    SET plan_code = EXCLUDED.plan_code, plan_at = EXCLUDED.plan_at, updated_at = $2
    WHERE known.plan_at IS NULL OR known.plan_at <= EXCLUDED.plan_at
"""


async def keep_mode(work: Work, *, sandbox: bool) -> None:
    """An organization was created."""
    await work.run(_MODE, work.organization_id, work.now, sandbox)


async def keep_plan(work: Work, *, plan_code: str | None, at: datetime) -> None:
    """An organization has another plan, or none; what is older than the known one is ignored."""
    await work.run(_PLAN, work.organization_id, work.now, plan_code, at)
