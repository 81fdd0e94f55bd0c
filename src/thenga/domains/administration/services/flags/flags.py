"""Feature flags: created, declared by domains, and rolled out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
from pydantic import JsonValue
from sqlalchemy import ColumnElement, select

from thenga.domains.administration import public
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.flags.evaluation import Targets
from thenga.domains.administration.tables import (
    FeatureFlag,
    FlagMode,
    FlagPurpose,
    FlagRollout,
    FlagValueType,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.series import next_number
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import Duplicate, Problem, RuleViolated
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

SHOWN_ROLLOUTS = 20
_RELEASED_WITHIN = timedelta(days=90)
_SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None, "key": FeatureFlag.key}
_DECLARE = """
    INSERT INTO administration.feature_flag (
        id, created_at, updated_at, version, key, description, purpose, value_type, variants,
        on_variant, off_variant, stickiness, declared, rollout_number, mode, include, exclude, salt
    ) VALUES (
        $5, $1, $1, 1, $2, $3, $4, 'boolean', '{"on": true, "off": false}',
        'on', 'off', 'organization', true, 0, 'off', '{}', '{}', '1'
    )
    ON CONFLICT (key) DO UPDATE
    SET description = EXCLUDED.description, purpose = EXCLUDED.purpose, declared = true
"""
_PYTHON: dict[FlagValueType, tuple[type, ...]] = {
    FlagValueType.BOOLEAN: (bool,),
    FlagValueType.STRING: (str,),
    FlagValueType.INTEGER: (int,),
    FlagValueType.NUMBER: (int, float),
    FlagValueType.OBJECT: (dict,),
}


class RolloutInvalid(Problem):
    """Send `percentage` only with the mode `percentage`. The mode `targeted` needs a target in
    `include`, and the mode `off` has no targets."""

    code, status, title = "administration-rollout-invalid", 422, "This rollout is not valid"


@dataclass(frozen=True, slots=True)
class RolloutRequest:
    """Callers that a flag is on for from now."""

    mode: FlagMode
    percentage: Decimal | None = None
    include: Targets = field(default_factory=Targets)
    exclude: Targets = field(default_factory=Targets)
    reshuffle: bool = False


async def create_flag(work: Work, *, fields: dict[str, Any], reason: str) -> FeatureFlag:
    """Create a flag that no domain declares. It starts `off`."""
    await actions.act_for_platform(work)
    flag = FeatureFlag(created_by=actions.actor_of(work), **fields)
    _check_variants(flag)
    if flag.purpose is FlagPurpose.RELEASE and flag.expected_end_date is None:
        flag.expected_end_date = local_day(work.now) + _RELEASED_WITHIN
    try:
        await work.add(flag)
    except asyncpg.UniqueViolationError:
        raise Duplicate(f"There is already a flag with the key {flag.key}.", field="key") from None
    await actions.record(work, flag, reason=reason)
    return flag


async def roll_out(
    work: Work, flag_id: UUID, request: RolloutRequest, *, reason: str
) -> FeatureFlag:
    """Give a flag its next rollout; earlier ones are kept for ever."""
    _check_rollout(request)
    await actions.act_for_platform(work)
    flag = await work.lock(FeatureFlag, flag_id)
    before = actions.shown(flag)
    flag.rollout_number += 1
    flag.mode, flag.percentage = request.mode, _two_places(request.percentage)
    flag.include, flag.exclude = request.include.to_row(), request.exclude.to_row()
    if request.reshuffle:
        flag.salt = str(int(flag.salt) + 1)
    set_by = actions.actor_of(work)
    flag.set_by, flag.set_at = set_by, work.now
    await work.save(flag)
    await work.add(_kept(flag, reason, set_by))
    await actions.record(work, flag, reason=reason, before=before)
    ruleset_version = await next_number(work, "flag_ruleset")
    work.publish(_event(flag, ruleset_version))
    return flag


async def list_flags(
    read: Reader, paged: Paged, *, key: str | None, domain: str | None, mode: FlagMode | None
) -> Slice[FeatureFlag]:
    """The flags of the platform."""
    statement = where_given(select(FeatureFlag), (FeatureFlag.key, key), (FeatureFlag.mode, mode))
    if domain is not None:
        statement = statement.where(FeatureFlag.key.startswith(f"{domain}.", autoescape=True))
    return await read.page(statement, paged, _SORTS[paged.sort])


async def last_rollouts(read: Reader, flag: FeatureFlag) -> list[FlagRollout]:
    """The newest rollouts of a flag, newest first."""
    statement = (
        select(FlagRollout)
        .where(FlagRollout.flag_id == flag.id)
        .order_by(FlagRollout.number.desc())
    )
    return await read.all(statement, limit=SHOWN_ROLLOUTS)


async def sync_declared(host: Host, domains: Sequence[Domain]) -> None:
    """Have a flag for each that a domain declares; new ones are `off`."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    scope = Scope(actor=SYSTEM)
    work = Work(host, "administration", scope, origin, login="administration_system")
    try:
        for flag in sorted((f for d in domains for f in d.flags), key=lambda one: one.key):
            named = (flag.key, flag.description, flag.purpose)
            await work.run(_DECLARE, work.now, *named, new_id())
        await work.finish()
    finally:
        await work.close()


def _kept(flag: FeatureFlag, reason: str, set_by: UUID) -> FlagRollout:
    return FlagRollout(
        flag_id=flag.id,
        number=flag.rollout_number,
        mode=flag.mode,
        percentage=flag.percentage,
        include=flag.include,
        exclude=flag.exclude,
        salt=flag.salt,
        reason=reason,
        set_by=set_by,
    )


def _event(flag: FeatureFlag, ruleset_version: int) -> public.FeatureFlagRolledOut:
    return public.FeatureFlagRolledOut(
        flag_id=flag.id,
        key=flag.key,
        rollout_number=flag.rollout_number,
        mode=flag.mode.value,
        percentage=flag.percentage,
        killed=False,
        ruleset_version=ruleset_version,
    )


def _two_places(percentage: Decimal | None) -> Decimal | None:
    return None if percentage is None else percentage.quantize(Decimal("0.01"))


def _check_variants(flag: FeatureFlag) -> None:
    missing = [one for one in (flag.on_variant, flag.off_variant) if one not in flag.variants]
    wrong = [name for name, value in flag.variants.items() if not _fits(flag.value_type, value)]
    if missing or wrong:
        raise RuleViolated(
            f"Give every variant a value of type {flag.value_type}, and use their names in "
            "`onVariant` and `offVariant`.",
            rule="flag-variants",
        )


def _fits(value_type: FlagValueType, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return value_type is FlagValueType.BOOLEAN
    return isinstance(value, _PYTHON[value_type])


def _check_rollout(request: RolloutRequest) -> None:
    if (request.percentage is not None) != (request.mode is FlagMode.PERCENTAGE):
        raise RolloutInvalid(
            "Send `percentage` only with the mode `percentage`, which requires it."
        )
    if request.mode is FlagMode.TARGETED and not request.include:
        raise RolloutInvalid("Name at least one target in `include`.")
    if request.mode is FlagMode.OFF and (request.include or request.exclude):
        raise RolloutInvalid("The mode `off` has no targets, because the flag is off for everyone.")
