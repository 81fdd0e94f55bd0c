"""Saved payment methods: provider tokens, encrypted and never shown."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import PaymentMethodLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services.payments import providers
from thenga.domains.billing.tables import (
    Account,
    MethodKind,
    MethodStatus,
    Payment,
    PaymentMethod,
    PlanKind,
    Subscription,
)
from thenga.domains.billing.values.provider import (
    MethodToken,
)
from thenga.kernel.crypto import sealing
from thenga.kernel.db import sealed
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight

_PURPOSE = "payment-method"
_NOTICE = timedelta(days=30)


def is_chargeable(method: PaymentMethod, now: datetime) -> bool:
    """Whether it can be charged without the customer. A card is valid on its last day."""
    over = method.expires_on is not None and local_day(now) > method.expires_on
    return method.status is MethodStatus.ACTIVE and method.off_session and not over


def method_status(method: PaymentMethod, now: datetime) -> MethodStatus:
    """The status now, before the job has updated the row."""
    over = method.expires_on is not None and local_day(now) > method.expires_on
    if method.status is MethodStatus.ACTIVE and over:
        return MethodStatus.EXPIRED
    return method.status


def token_of(host: Host, method: PaymentMethod) -> str:
    """The provider's token in clear, only for the call that charges it."""
    return sealed.unseal(host, method, "sealed_token").decode()


async def default_method(read: Reader, account_id: UUID) -> PaymentMethod | None:
    """The method charged off-session: the preferred one, otherwise the newest chargeable one."""
    statement = select(PaymentMethod).where(
        PaymentMethod.account_id == account_id, PaymentMethod.status == MethodStatus.ACTIVE
    )
    good = await chargeable_methods(
        read, await read.all(statement.order_by(PaymentMethod.id.desc()), limit=100)
    )
    return next((method for method in good if method.preferred), good[0] if good else None)


async def chargeable_methods(read: Reader, methods: Sequence[PaymentMethod]) -> list[PaymentMethod]:
    """The methods that can be charged now. Methods of a removed provider do not count, so a renewal
    goes into recovery instead of being retried for ever (BIL-29)."""
    good = [method for method in methods if is_chargeable(method, read.now)]
    if not good:
        return []
    allowed = await providers.allowed(read, await read.get(Account, good[0].account_id))
    return [method for method in good if method.provider in allowed]


async def save_method(work: Work, payment: Payment, given: MethodToken) -> PaymentMethod:
    """Save the method of a payment, once. The first saved one becomes the default."""
    digest = sealing.mac(work.host.key(_PURPOSE), given.token.encode())
    known = await work.find(PaymentMethod, provider=payment.provider, token_hash=digest)
    if known is not None:
        return await _refreshed(work, known, payment, given)
    first = await _is_first(work, payment)
    return await work.add(
        PaymentMethod(
            organization_id=payment.organization_id,
            account_id=payment.account_id,
            provider=payment.provider,
            kind=MethodKind(given.kind),
            brand=given.brand,
            last4=given.last4,
            expires_on=given.expires_on,
            preferred=first,
            sealed_token=_sealed(work, payment, given),
            token_hash=digest,
            next_check_at=_next_check(given.expires_on),
        )
    )


async def _is_first(work: Work, payment: Payment) -> bool:
    first = await default_method(work, payment.account_id) is None
    if first:  # an expired one can still be the default before the job has run
        await _prefer_none(work)
    return first


def _sealed(work: Work, payment: Payment, given: MethodToken) -> bytes:
    plain, owner = given.token.encode(), payment.organization_id
    return sealed.seal(work.host, PaymentMethod, "sealed_token", plain, organization_id=owner)


async def _refreshed(
    work: Work, known: PaymentMethod, payment: Payment, given: MethodToken
) -> PaymentMethod:
    """Update a known token: a replaced card can have another expiry date.

    A revoked method returns only with a payment started after the revocation.
    """
    gone = known.status is MethodStatus.REVOKED
    comes_back = gone and payment.created_at > known.updated_at
    replaced = not gone and given.expires_on not in (None, known.expires_on)
    if not comes_back and not replaced:
        return known
    first = comes_back and await _is_first(work, payment)
    method = await work.lock(PaymentMethod, known.id)
    if comes_back:
        method.sealed_token, method.preferred = _sealed(work, payment, given), first
    method.expires_on, method.expiry_told_at = given.expires_on or method.expires_on, None
    method.next_check_at = _next_check(method.expires_on)
    if method.status is not MethodStatus.ACTIVE:
        PaymentMethodLifecycle.renew(method, at=work.now)
    return await work.save(method)


def _next_check(expires_on: date | None) -> datetime | None:
    return None if expires_on is None else local_midnight(expires_on) - _NOTICE


async def list_methods(read: Reader, account_id: UUID, paged: Paged) -> Slice[PaymentMethod]:
    return await read.page(
        select(PaymentMethod).where(
            PaymentMethod.account_id == account_id, PaymentMethod.status != MethodStatus.REVOKED
        ),
        paged,
    )


async def set_default_method(work: Work, method_id: UUID) -> PaymentMethod:
    """Make this method the default."""
    method = await work.lock(PaymentMethod, method_id)
    if not is_chargeable(method, work.now):
        raise not_possible(
            "This payment method can no longer be charged. Choose another, or add one.",
            status=method_status(method, work.now),
            operation="make-default",
            allowed=[],
        )
    if method.preferred:
        return method
    await _prefer_none(work)
    method.preferred = True
    return await work.save(method)


async def _prefer_none(work: Work) -> None:
    for other in await work.all(select(PaymentMethod).where(PaymentMethod.preferred), limit=100):
        held = await work.lock(PaymentMethod, other.id)
        held.preferred = False
        await work.save(held)


async def revoke_method(work: Work, method_id: UUID) -> PaymentMethod:
    """Revoke a method and delete its token."""
    method = await work.lock(PaymentMethod, method_id)
    if PaymentMethodLifecycle.revoke(method, at=work.now):
        method.preferred, method.next_check_at = False, None
        method.sealed_token = b""
        await work.save(method)
    return method


async def mark_method_refused(work: Work, method_id: UUID) -> bool:
    """Revoke a method after a hard decline, and return whether it was active."""
    method = await work.get(PaymentMethod, method_id)
    if method.status is MethodStatus.REVOKED:
        return False
    await revoke_method(work, method_id)
    return True


async def is_method_needed(read: Reader, method: PaymentMethod) -> bool:
    """Whether an active plan has no other method to charge."""
    statement = select(PaymentMethod).where(
        PaymentMethod.status == MethodStatus.ACTIVE, PaymentMethod.id != method.id
    )
    others = await read.all(statement, limit=100)
    if any(is_chargeable(other, read.now) for other in others):
        return False
    live = select(Subscription).where(
        Subscription.account_id == method.account_id,
        Subscription.kind == PlanKind.BASE,
        among(Subscription.status, SubscriptionLifecycle.LIVE),
    )
    return bool(await read.all(live, limit=1))


async def _is_used(read: Reader, method: PaymentMethod) -> bool:
    """Whether a charge today would use it, as the plan's own or the account's default."""
    if not is_chargeable(method, read.now):
        return False
    default = await default_method(read, method.account_id)
    live = select(Subscription).where(
        Subscription.payment_method_id == method.id,
        among(Subscription.status, SubscriptionLifecycle.LIVE),
    )
    return (default is not None and default.id == method.id) or bool(await read.all(live, limit=1))


async def run_due_method_steps(work: Work, method_id: UUID) -> None:
    """Announce the expiry once, 30 days before; expire it after its last day (BIL-40)."""
    method = await work.lock(PaymentMethod, method_id)
    due, ends = method.next_check_at, method.expires_on
    if due is None or due > work.now or ends is None:
        return
    if local_day(work.now) > ends:
        if method.status is MethodStatus.ACTIVE:
            PaymentMethodLifecycle.expire(method, at=work.now)
        method.next_check_at, method.preferred = None, False
        await work.save(method)
        return
    announce = method.expiry_told_at is None and await _is_used(work, method)
    if announce:
        method.expiry_told_at = work.now
    # An unused method can become used in its last days.
    seen = local_day(work.now) if method.expiry_told_at is None else ends
    method.next_check_at = local_midnight(seen + timedelta(days=1))
    await work.save(method)
    if announce:
        work.publish(
            public.PaymentMethodExpiring(
                organization_id=method.organization_id,
                payment_method_id=method.id,
                provider=method.provider,
                last4=method.last4,
                expires_on=ends,
            )
        )


async def method_of(read: Reader, subscription: Subscription) -> PaymentMethod | None:
    """The method to charge: the subscription's own if chargeable, otherwise the account's."""
    if subscription.payment_method_id is not None:
        own = await read.find(PaymentMethod, id=subscription.payment_method_id)
        if own is not None and await chargeable_methods(read, [own]):
            return own
    return await default_method(read, subscription.account_id)
