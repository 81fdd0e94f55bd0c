"""Configuration: the settings of a domain, kept as dated versions in its own schema.

Every domain with settings has two reactions and one job from here; it writes no code for them. A
version that Administration publishes is checked by the setting's type, kept in `setting_value` and
acknowledged. Each read asks for the newest version in force at its own instant, so a version dated
ahead takes effect in every process at that instant, without a message (ADM-10).
"""

import json
from datetime import date, datetime
from functools import cache
from types import new_class
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from sqlalchemy import bindparam, select
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Col, Instant, Json, Row, col
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.job import Form, Job
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reaction
from thenga.kernel.declare.setting import InForce, Setting
from thenga.kernel.values.calendar import local_midnight

T = TypeVar("T")

# The kernel knows no domain: hence the types as text.
CONFIGURATION_CHANGED = "administration.ConfigurationChanged.v1"
POLICY_CHANGED = "administration.PolicyConfigurationChanged.v1"


class SettingValue(Row):
    """A published version of a setting, under the id that Administration gave it.

    A refused one keeps the reason instead of a value and is never read.
    """

    key: Col[str] = col(sa.Text)
    number: Col[int] = col(sa.BigInteger)
    effective_from: Col[datetime] = col(Instant)
    value: Col[Any] = col(Json, nullable=True)
    refusal_code: Col[str | None] = col(sa.Text, nullable=True)


@cache
def row_of(domain: str) -> type[SettingValue]:
    """The row class of a domain's own `setting_value`."""
    named = {"table": f"{domain}.setting_value", "kind": Kind.CATALOGUE}
    return new_class(f"{domain.title()}SettingValue", (SettingValue,), named)


async def value(read: Reader, setting: Setting[T], *, on: date | None = None) -> T:
    """The value in force now, or at the beginning of a local day."""
    return (await in_force(read, setting, on=on)).value


async def in_force(read: Reader, setting: Setting[T], *, on: date | None = None) -> InForce[T]:
    """As `value`, with the number of the version and the instant from which it counts."""
    at = read.now if on is None else local_midnight(on)
    built_in = setting.built_in(at)
    found = (await _versions(read, at)).get(setting.key)
    if found is None or (built_in.since is not None and found.effective_from < built_in.since):
        return built_in
    return InForce(setting.load(found.value), found.number, found.effective_from)


async def _versions(read: Reader, at: datetime) -> dict[str, SettingValue]:
    """The versions in force at an instant, by key; one statement in a unit of work."""
    known = read.settings_at.get(at)
    if known is None:
        found = await read.select_prepared(_statement(read.domain), at=at)
        known = read.settings_at[at] = {one.key: one for one in found}
    return known


@cache
def _statement(domain: str) -> sa.Select[Any]:
    row = row_of(domain)
    return (
        select(row)
        .ext(pg.distinct_on(row.key))
        .where(row.effective_from <= bindparam("at"), row.refusal_code.is_(None))
        .order_by(row.key, row.effective_from.desc(), row.number.desc())
    )


def jobs_of(domain: Domain) -> dict[str, Job]:
    """The jobs that a domain declares, and the one that applies changes of its settings."""
    declared = domain.jobs.declared if domain.jobs else {}
    return {**declared, **({"apply_setting": _apply_job(domain)} if domain.settings else {})}


def reactions_of(domain: Domain) -> tuple[Reaction, ...]:
    """What a domain with settings does when Administration publishes a change."""
    if not domain.settings:
        return ()
    job = _apply_job(domain)
    declared = {one.key for one in domain.settings}

    async def apply_configuration(work: Work, envelope: Envelope) -> None:
        change = _Configuration.model_validate(envelope.data)
        if change.key in declared:
            _enqueue(work, job, change, key=change.key, number=change.number, value=change.value)

    async def apply_policy(work: Work, envelope: Envelope) -> None:
        change = _Policy.model_validate(envelope.data)
        if change.target_domain == domain.name:
            key, number = change.policy_key, change.version
            _enqueue(work, job, change, key=key, number=number, value=change.document)

    # No function of a domain can have these names.
    return (
        Reaction("kernel.apply_configuration", CONFIGURATION_CHANGED, apply_configuration),
        Reaction("kernel.apply_policy", POLICY_CHANGED, apply_policy),
    )


class _Scope(BaseModel):
    kind: str = "platform"


class _Change(BaseModel):
    """What both events say of a version."""

    model_config = ConfigDict(alias_generator=to_camel)

    declared_as: ClassVar[str]
    config_id: UUID
    scope: _Scope | None = None
    effective_from: datetime


class _Configuration(_Change):
    declared_as = "configuration"
    key: str
    number: int
    value: Any


class _Policy(_Change):
    declared_as = "policy"
    target_domain: str
    policy_key: str
    version: int
    document: Any


def _enqueue(work: Work, job: Job, change: _Change, *, key: str, number: int, value: Any) -> None:
    work.enqueue(
        job,
        config_id=change.config_id,
        kind=change.declared_as,
        key=key,
        number=number,
        effective_from=change.effective_from,
        scope=change.scope.kind if change.scope else "platform",
        value=json.dumps(value),
    )


def _apply_job(domain: Domain) -> Job:
    declared = {one.key: one for one in domain.settings}

    async def apply_setting(
        work: Work,
        *,
        config_id: UUID,
        kind: str,
        key: str,
        number: int,
        effective_from: datetime,
        scope: str,
        value: str,
    ) -> None:
        """Keep or refuse a published version, once, and acknowledge it (ADM-35)."""
        row = row_of(domain.name)
        if await work.find(row, id=config_id) is not None:
            return  # Administration publishes again what it has not heard of
        kept, refusal = _checked(declared.get(key), kind, scope, value)
        version = await work.add(
            row(
                id=config_id,
                key=key,
                number=number,
                effective_from=effective_from,
                value=kept,
                refusal_code=refusal,
            )
        )
        _acknowledge(work, domain, version)

    return Job(
        domain.name, "apply_setting", Form.QUEUED, apply_setting, key="{config_id}", as_system=True
    )


def _acknowledge(work: Work, domain: Domain, version: SettingValue) -> None:
    assert domain.acknowledgement is not None  # noqa: S101  # held by the manifest
    work.publish(
        domain.acknowledgement(
            config_id=version.id,
            policy_key=version.key,
            number=version.number,
            outcome="applied" if version.refusal_code is None else "refused",
            refusal_code=version.refusal_code,
        )
    )


def _checked(
    setting: Setting[Any] | None, kind: str, scope: str, text: str
) -> tuple[Any, str | None]:
    """The value to keep, or the code of the refusal, which never contains the value (ADM-8)."""
    if setting is None or setting.kind != kind:
        return None, "unknown_key"
    if scope != "platform":
        return None, "scope_unsupported"
    try:
        return setting.to_json(setting.parse(text)), None
    except ValidationError:
        return None, "value_invalid"
