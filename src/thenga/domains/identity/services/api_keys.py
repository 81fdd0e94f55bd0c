"""API keys: made with scopes and an end, rotated with a grace, revoked at once (IDN-40)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Text, any_, func, literal, literal_column, or_, select
from sqlalchemy.dialects.postgresql import ARRAY

from thenga.domains.identity import public, settings
from thenga.domains.identity.lifecycles import ApiKeyLifecycle
from thenga.domains.identity.services import roles
from thenga.domains.identity.tables import ApiKey, ApiKeyStatus, PermissionEntry, TenantMirror
from thenga.kernel.crypto import tokens
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.declare.permission import Audience
from thenga.kernel.errors import InvalidTransition, Problem, RuleViolated, extensions
from thenga.kernel.values.ids import new_id

USUAL_LIFE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=365)
USUAL_GRACE = timedelta(hours=24)
WARNED_AT = (14, 3)  # days left (IDN-42)
_WORKING = (ApiKeyStatus.ACTIVE, ApiKeyStatus.ROTATING)
_ALIVE = or_(*(ApiKey.status == one for one in _WORKING))
_LONG_AGO = literal_column("TIMESTAMPTZ '1900-01-01 00:00:00+00'", Instant)
SORTS: dict[str, ColumnElement[Any] | None] = {
    "createdAt": None,
    "lastUsedAt": func.coalesce(ApiKey.last_used_at, _LONG_AGO),
}


class ScopeUnfit(Problem):
    """A scope is not a permission, or not one that API keys can hold. `unfit` lists them.

    Keys can hold normal permissions of an organization. Sensitive, financial and administrative
    actions need a person. `GET /identity/permissions` shows `keys` for each permission; permissions
    for `sandbox` only are limited to sandbox keys.
    """

    code, status, title = "identity-scope-unfit", 422, "An API key cannot have this scope"
    members = extensions(unfit=(list[str], "Scopes that keys cannot have."))


@dataclass(frozen=True)
class Minted:
    """A new key and its text, which nobody will see again."""

    key: ApiKey
    plaintext: str


async def create(
    work: Work,
    *,
    name: str,
    scopes: list[str],
    expires_at: datetime | None,
    allowed_networks: list[str],
    reason: str,
) -> Minted:
    """A key of the organization, within what its maker holds."""
    mirror = await work.lock_by(TenantMirror, organization_id=work.organization_id)
    await _check_scopes(work, set(scopes), sandbox=mirror.sandbox)
    await _check_room(work)
    minted = await _mint(
        work,
        sandbox=mirror.sandbox,
        name=name,
        scopes=sorted(set(scopes)),
        allowed_networks=[ip_network(one, strict=False) for one in allowed_networks],
        expires_at=_end(expires_at, work.now),
        status_code="created",
        status_text=reason,
    )
    key = minted.key
    work.publish(
        public.ApiKeyCreated(
            organization_id=key.organization_id,
            api_key_id=key.id,
            scopes=key.scopes,
            expires_at=key.expires_at,
        )
    )
    return minted


async def list_all(
    read: Reader,
    paged: Paged,
    *,
    status: ApiKeyStatus | None,
    sponsor_user_id: UUID | None,
    expiring_within_days: int | None,
) -> Slice[ApiKey]:
    """The keys of the organization; the state asked for is the one that time has made."""
    statement = select(ApiKey)
    if status is not None:
        statement = statement.where(_is(status, read.now))
    statement = where_given(statement, (ApiKey.sponsor_user_id, sponsor_user_id))
    if expiring_within_days is not None:
        last = read.now + timedelta(days=expiring_within_days)
        statement = statement.where(ApiKey.expires_at <= last, ApiKey.expires_at > read.now)
        statement = statement.where(_ALIVE)
    return await read.page(statement, paged, SORTS[paged.sort])


async def rotate(
    work: Work, api_key_id: UUID, *, grace: timedelta, expires_at: datetime | None, reason: str
) -> Minted:
    """A successor with the same name, scopes and networks; the old one has its grace (IDN-41)."""
    mirror = await work.lock_by(TenantMirror, organization_id=work.organization_id)
    old = await work.lock(ApiKey, api_key_id)
    if shown_status(old, work.now) is not ApiKeyStatus.ACTIVE:
        raise _not_active(shown_status(old, work.now))
    # Whoever rotates a key is shown its successor, so they hold what it holds (SEC-59).
    await _check_own(work, sorted(await roles.tenant_permissions(work, old.scopes)))
    minted = await _mint(
        work,
        sandbox=mirror.sandbox,
        name=old.name,
        scopes=old.scopes,
        allowed_networks=old.allowed_networks,
        expires_at=_end(expires_at, work.now),
        rotated_from_id=old.id,
        status_code="created",
        status_text=reason,
    )
    ends = work.now + grace
    ApiKeyLifecycle.rotate(old, at=work.now)
    old.grace_ends_at, old.rotated_to_id = ends, minted.key.id
    old.next_check_at = min(ends, old.expires_at)
    explain(old, at=work.now, by=work.actor.id, code="rotating", text=reason)
    if grace <= timedelta(0):
        ApiKeyLifecycle.revoke(old, at=work.now)
        old.next_check_at = None
        explain(old, at=work.now, by=work.actor.id, code="rotated", text=reason)
    await work.save(old)
    work.publish(
        public.ApiKeyRotated(
            organization_id=old.organization_id,
            api_key_id=old.id,
            successor_id=minted.key.id,
            grace_ends_at=ends,
        )
    )
    return minted


def _not_active(status: ApiKeyStatus) -> InvalidTransition:
    told: dict[str, Any] = {"from": status, "operation": "rotate", "allowed": []}
    return InvalidTransition(f"This key is {status}; only an active key can be rotated.", **told)


async def revoke(work: Work, api_key_id: UUID, *, reason: str) -> ApiKey:
    """Take a key back; the next call with it is refused."""
    key = await work.lock(ApiKey, api_key_id)
    if ApiKeyLifecycle.revoke(key, at=work.now):
        await _ended(work, key, "revoked", reason)
    return key


async def check_time(work: Work, api_key_id: UUID) -> None:
    """What time does to a key: its grace is over, it expires, or its end is near."""
    key = await work.lock(ApiKey, api_key_id)
    if key.next_check_at is None or work.now < key.next_check_at:
        return
    status = shown_status(key, work.now)
    if key.status not in _WORKING:
        key.next_check_at = None
        await work.save(key)
    elif status is ApiKeyStatus.EXPIRED:
        ApiKeyLifecycle.expire(key, at=work.now)
        await _ended(work, key, "expired", None)
    elif status is ApiKeyStatus.REVOKED:
        ApiKeyLifecycle.revoke(key, at=work.now)
        await _ended(work, key, "rotated", key.status_text)
    else:
        await _warn(work, key)


def shown_status(key: ApiKey, now: datetime) -> ApiKeyStatus:
    """What time has made of it, also before the sweep has written it down."""
    if key.status not in _WORKING:
        return key.status
    if now >= key.expires_at:
        return ApiKeyStatus.EXPIRED
    over = key.grace_ends_at is not None and now >= key.grace_ends_at
    return ApiKeyStatus.REVOKED if over else key.status


def _is(status: ApiKeyStatus, now: datetime) -> ColumnElement[bool]:
    """`shown_status` as a condition."""
    expired = _ALIVE & (ApiKey.expires_at <= now)
    rotated = _ALIVE & ~expired & func.coalesce(ApiKey.grace_ends_at <= now, False)
    if status is ApiKeyStatus.EXPIRED:
        return (ApiKey.status == status) | expired
    if status is ApiKeyStatus.REVOKED:
        return (ApiKey.status == status) | rotated
    return (ApiKey.status == status) & ~expired & ~rotated


async def _check_scopes(work: Work, wanted: set[str], *, sandbox: bool) -> None:
    found = await work.all(
        select(PermissionEntry).where(
            PermissionEntry.code == any_(literal(sorted(wanted), ARRAY(Text))),
            PermissionEntry.status == "active",
            PermissionEntry.keys,
        )
    )
    ours = {one.code for one in found if Audience.TENANT in one.audiences}
    # Services do this elsewhere; in a sandbox a key stands in for them, and no person holds it.
    played = {one.code for one in found if sandbox and Audience.SANDBOX in one.audiences}
    unfit = sorted(wanted - ours - played)
    if unfit:
        raise ScopeUnfit(f"A key cannot have {', '.join(unfit)}.", unfit=unfit)
    await _check_own(work, sorted(ours))


async def _check_own(work: Work, wanted: list[str]) -> None:
    """Nobody gives what they do not hold in the whole organization (IDN-20)."""
    giver = await roles.giver_of(work, work.user_id, work.now)
    giver.must_hold(wanted)


async def _check_room(work: Work) -> None:
    statement = select(func.count()).select_from(ApiKey.__table__)
    working = [ApiKey.status == ApiKeyStatus.ACTIVE, ApiKey.expires_at > work.now]
    mine = ApiKey.organization_id == work.organization_id
    active = await work.value(statement.where(mine, *working))
    most = await configuration.value(work, settings.MOST_KEYS)
    if (active or 0) >= most:
        raise RuleViolated(
            f"An organization can have at most {most} active API keys. Revoke one first.",
            rule="IDN-40",
            limit=most,
            used=active,
        )


def _end(expires_at: datetime | None, now: datetime) -> datetime:
    ends = expires_at or now + USUAL_LIFE
    if not now < ends <= now + LONGEST_LIFE:
        raise RuleViolated("The expiry must be in the future and within 365 days.", rule="IDN-40")
    return ends


async def _mint(work: Work, *, sandbox: bool, **fields: Any) -> Minted:
    prefix = tokens.Prefix.KEY_TEST if sandbox else tokens.Prefix.KEY_LIVE
    plaintext = tokens.mint(prefix)
    key = ApiKey(
        id=new_id(),
        organization_id=work.organization_id,
        hash=tokens.digest(plaintext),
        environment="test" if sandbox else "live",
        prefix=str(prefix),
        last4=plaintext[-4:],
        status=ApiKeyStatus.ACTIVE,
        sponsor_user_id=work.user_id,
        status_changed_at=work.now,
        status_changed_by=work.actor.id,
        **fields,
    )
    key.next_check_at = _next_check(key, work.now)
    await work.add(key)
    return Minted(key, plaintext)


def _next_check(key: ApiKey, now: datetime) -> datetime:
    warnings = (key.expires_at - timedelta(days=days) for days in WARNED_AT)
    return min((at for at in warnings if at > now), default=key.expires_at)


async def _warn(work: Work, key: ApiKey) -> None:
    """Once for each step; a key with a successor needs no warning."""
    left = key.expires_at - work.now
    days = min((d for d in WARNED_AT if left <= timedelta(days=d)), default=None)
    key.next_check_at = _next_check(key, work.now)
    tell = days is not None and key.status is ApiKeyStatus.ACTIVE and days != key.warned_days
    if tell:
        key.warned_days = days
    await work.save(key)
    if tell and days is not None:
        work.publish(
            public.ApiKeyExpiring(
                organization_id=key.organization_id,
                api_key_id=key.id,
                expires_at=key.expires_at,
                days_left=days,
            )
        )


async def _ended(work: Work, key: ApiKey, cause: str, reason: str | None) -> None:
    key.next_check_at = None
    explain(key, at=work.now, by=work.actor.id, code=cause, text=reason)
    await work.save(key)
    work.publish(
        public.ApiKeyRevoked(organization_id=key.organization_id, api_key_id=key.id, cause=cause)
    )
