"""Grants: entitlements that an operator gives for a limited time (BIL-3)."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.lifecycles import GrantLifecycle
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.tables import Account, Feature, FeatureType, Grant, GrantStatus
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated


async def issue_grant(
    work: Work, *, entitlement: str, value: bool | int, expires_at: datetime, reason: str
) -> Grant:
    """Give an organization more than it has bought, until a date."""
    organization_id = work.organization_id  # operators name the organization
    if await work.find(Account) is None:
        raise NotFound("This organization has no billing account yet. Try again in a few seconds.")
    feature = await work.find(Feature, key=entitlement)
    if feature is None:
        raise RuleViolated(
            f"There is no entitlement {entitlement}. Use a key that a plan includes.",
            rule="known-entitlement",
        )
    _check(feature, value, expires_at, work.now)
    made = await work.add(
        Grant(
            organization_id=organization_id,
            entitlement=entitlement,
            value=value,
            expires_at=expires_at,
            reason=reason,
            issued_by=work.actor.id,
            next_check_at=expires_at,
        )
    )
    await current.refresh(work, reason="grant_issued")
    return made


def _check(feature: Feature, value: bool | int, expires_at: datetime, now: datetime) -> None:
    boolean = feature.type is FeatureType.BOOLEAN
    if isinstance(value, bool) != boolean or value in (False, 0):
        right = "`true`" if boolean else "a whole number of 1 or more"
        raise RuleViolated(f"The value of {feature.key} must be {right}.", rule="grant-value")
    if expires_at <= now:
        raise RuleViolated("Set `expiresAt` to a time in the future.", rule="grant-expiry")


async def revoke_grant(work: Work, grant_id: UUID) -> Grant:
    """Revoke a grant before it expires."""
    grant = await work.lock(Grant, grant_id)
    if GrantLifecycle.revoke(grant, at=work.now):
        grant.revoked_at, grant.next_check_at = work.now, None
        await work.save(grant)
        await current.refresh(work, reason="grant_revoked")
    return grant


async def expire_grant(work: Work, grant_id: UUID) -> None:
    """Mark an expired grant as expired."""
    grant = await work.lock(Grant, grant_id)
    if grant.status is not GrantStatus.ACTIVE or grant.expires_at > work.now:
        return
    GrantLifecycle.lapse(grant, at=work.now)
    grant.next_check_at = None
    await work.save(grant)
    await current.refresh(work, reason="grant_expired")


def grant_status(grant: Grant, now: datetime) -> GrantStatus:
    """The status now, before the job has updated the row."""
    over = grant.status is GrantStatus.ACTIVE and grant.expires_at <= now
    return GrantStatus.EXPIRED if over else grant.status


async def list_grants(
    read: Reader, paged: Paged, *, entitlement: str | None, status: GrantStatus | None
) -> Slice[Grant]:
    """The grants of an organization."""
    statement = select(Grant)
    statement = where_given(statement, (Grant.entitlement, entitlement))
    if status is GrantStatus.ACTIVE:
        statement = statement.where(Grant.expires_at > read.now)
    if status is GrantStatus.EXPIRED:
        statement = statement.where(
            Grant.status != GrantStatus.REVOKED, Grant.expires_at <= read.now
        )
    elif status is not None:
        statement = statement.where(Grant.status == status)
    return await read.page(statement, paged)
