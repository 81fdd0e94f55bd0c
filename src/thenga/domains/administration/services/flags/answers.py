"""The value of a flag for one caller, from its rollout and what is known of the organization."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.administration.public import FlagResult
from thenga.domains.administration.services.flags.evaluation import (
    Caller,
    Flag,
    Rollout,
    Targets,
    evaluate,
)
from thenga.domains.administration.tables import FeatureFlag, FlagRollout, TenantCard
from thenga.kernel.db.reader import Reader


async def answer(
    read: Reader,
    key: str,
    *,
    organization_id: UUID,
    user_id: UUID | None,
    targeting_key: str | None,
    at: datetime | None,
) -> FlagResult | None:
    """Evaluate a flag; the plan comes from Billing's events, never from the caller (ADM-13)."""
    flag = await read.find(FeatureFlag, key=key)
    if flag is None:
        return None
    card = await read.find(TenantCard, id=organization_id)
    plan_code = None if card is None else card.plan_code
    caller = Caller(organization_id, user_id, plan_code, targeting_key)
    rollout = flag if at is None else await _rollout_at(read, flag, at)
    return evaluate(_ruled(flag, rollout), caller)


async def _rollout_at(read: Reader, flag: FeatureFlag, at: datetime) -> FlagRollout | None:
    """The rollout that applied at an instant; before the first the flag was off."""
    statement = (
        select(FlagRollout)
        .where(FlagRollout.flag_id == flag.id, FlagRollout.created_at <= at)
        .order_by(FlagRollout.number.desc())
    )
    return next(iter(await read.all(statement, limit=1)), None)


def _ruled(flag: FeatureFlag, applied: FeatureFlag | FlagRollout | None) -> Flag:
    rollout = Rollout()
    if applied is not None:
        rollout = Rollout(
            mode=applied.mode.value,
            percentage=applied.percentage or Decimal(0),
            include=Targets.of_row(applied.include),
            exclude=Targets.of_row(applied.exclude),
        )
    return Flag(
        key=flag.key,
        variants=flag.variants,
        on_variant=flag.on_variant,
        off_variant=flag.off_variant,
        rollout=rollout,
        stickiness=flag.stickiness.value,
        salt=flag.salt if applied is None else applied.salt,
    )
