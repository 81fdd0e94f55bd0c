"""Accounts, plans and bookings as rows."""

import asyncio
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.services.ledger.journal import Booking, EntrySource
from thenga.domains.billing.tables import (
    Account,
    AccountStatus,
    Book,
    JournalEntry,
    PlanKind,
    PlanStatus,
    PlanVersion,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

BILL_TO = {"legal_name": "Mokoena Plant Hire (Pty) Ltd"}


_END_BASES = """
    UPDATE billing.subscription SET status = 'ended', next_check_at = NULL
    WHERE kind = 'base' AND status NOT IN ('ended', 'incomplete_expired')
"""


def working(
    host: Host, organization_id: UUID | None = None, *, ahead: timedelta = timedelta(0)
) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(SYSTEM, organization_id, platform=organization_id is None, clock_offset=ahead)
    return Work(host, "billing", scope, origin)


def working_on(connection: Any, host: Host, organization_id: UUID, at: datetime) -> Work:
    """A unit of work inside a transaction of the system login that somebody else rolls back."""
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(SYSTEM, organization_id)
    made = Work(host, "billing", scope, origin, login="billing_system")
    made._connection, made.now = connection, at
    return made


async def account(
    host: Host,
    organization_id: UUID,
    *,
    status: AccountStatus = AccountStatus.ACTIVE,
    book: Book = Book.LIVE,
    again: bool = False,
    **fields: Any,
) -> Account:
    """The account of an organization; `again` where it may be there already."""
    work = working(host, organization_id)
    try:
        known = await work.find(Account) if again else None
        if known is None:
            bill_to = None if status is AccountStatus.PROVISIONAL else BILL_TO
            values = {"status": status, "book": book, "bill_to": bill_to} | fields
            known = await work.add(Account(organization_id=organization_id, **values))
            await work.finish()
        elif known.bill_to is None and status is AccountStatus.ACTIVE:  # a sweep has emptied it
            await work.hold(known)
            known.bill_to, known.status = fields.get("bill_to", BILL_TO), status
            await work.save(known)
            await work.finish()
        return known
    except asyncpg.UniqueViolationError:
        await work.close()
        return await account(host, organization_id, again=True)
    finally:
        await work.close()


async def reopened(host: Host, organization_id: UUID) -> Account:
    """The account as if nobody had said yet who is billed."""
    await account(host, organization_id, again=True)
    work = working(host, organization_id)
    held = await work.lock_by(Account)
    held.status, held.bill_to = AccountStatus.PROVISIONAL, None
    await work.save(held)
    await work.finish()
    return held


async def plan_version(host: Host, *, author: UUID | None = None, **fields: Any) -> PlanVersion:
    """A version of a plan of its own, a draft unless said otherwise."""
    known: dict[str, Any] = {
        "plan_code": f"plan-{uuid4().hex[:12]}",
        "plan_version": 1,
        "name": "Cooperative",
        "description": "For a cooperative.",
        "kind": PlanKind.BASE,
        "rank": 5,
        "public": True,
        "trial_eligible": False,
        "prices": [{"interval": "month", "grossMinor": 19900, "currency": "ZAR"}],
        "entitlements": [{"key": "identity.seats", "type": "limit", "limit": 2, "mode": "hard"}],
        "effective_from": date(2190, 1, 1),
        "status": PlanStatus.DRAFT,
        "authors": [author or new_id()],
    }
    work = working(host)
    made = await work.add(PlanVersion(**known | fields))
    await work.finish()
    return made


async def trial(
    host: Host,
    organization_id: UUID,
    *,
    status: TrialStatus = TrialStatus.ACTIVE,
    ends_at: datetime | None = None,
) -> Trial:
    """A trial of an organization, with its account and its subscription."""
    owner = await account(host, organization_id, again=True)
    work = working(host, organization_id)
    try:
        made = await _add_trial(work, owner, status, ends_at)
        await work.finish()
    finally:
        await work.close()
    return made


async def _add_trial(
    work: Work, owner: Account, status: TrialStatus, ends_at: datetime | None
) -> Trial:
    organization_id = owner.organization_id
    await work.lock_by(Account)  # as the service does: one after the other
    await work.run(_END_BASES)
    trial_id, ends = new_id(), ends_at or work.now + timedelta(days=14)
    live = status is TrialStatus.ACTIVE
    subscription = await work.add(
        Subscription(
            organization_id=organization_id,
            account_id=owner.id,
            plan_code="professional",
            plan_version=1,
            kind=PlanKind.BASE,
            status=SubscriptionStatus.TRIALING if live else SubscriptionStatus.ENDED,
            trial_id=trial_id,
        )
    )
    return await work.add(
        Trial(
            id=trial_id,
            organization_id=organization_id,
            book=owner.book,
            plan_code="professional",
            plan_version=1,
            subscription_id=subscription.id,
            started_at=ends - timedelta(days=14),
            notice_at=ends - timedelta(days=3),
            ends_at=ends,
            status=status,
        )
    )


async def running_trial(host: Host, organization_id: UUID) -> Trial:
    """The trial that runs, or one that is made to."""
    work = working(host, organization_id)
    known = await work.find(Trial, status=TrialStatus.ACTIVE)
    await work.close()
    try:
        made = known or await trial(host, organization_id)
        await followed(host, organization_id)
        return made
    except asyncpg.UniqueViolationError:
        return await running_trial(host, organization_id)


async def followed(host: Host, organization_id: UUID) -> None:
    """What is held as its sources say, so that a call changes no more than it does itself."""
    work = working(host, organization_id)
    await current.refresh(work, reason="test")
    await work.finish()


async def without_trial(host: Host, organization_id: UUID) -> None:
    """A sandbox whose trial is over, so that it may try again."""
    work = working(host, organization_id)
    await work.lock_by(Account)
    await work.run("UPDATE billing.trial SET status = 'expired' WHERE status = 'active'")
    await work.run(_END_BASES)
    await current.refresh(work, reason="test")
    await work.finish()


async def entry(
    host: Host, organization_id: UUID, booking: Booking, *, book: Book = Book.LIVE
) -> JournalEntry:
    """One booking of its own."""
    work = working(host, organization_id)
    source = EntrySource("test", new_id(), f"test:{uuid4()}")
    made = await journal.post(work, booking, book=book, source=source, occurred_at=work.now)
    await work.finish()
    return made


async def until_blocked_by(host: Host, work: Work, *, seconds: float = 180) -> None:
    """Wait until another transaction waits for a lock that this unit of work has."""
    (own,) = await work.query("SELECT pg_backend_pid() AS pid")
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))"
    async with (
        asyncio.timeout(seconds),
        host.engines.connection("billing", "billing_system") as connection,
    ):
        while not await connection.fetchval(waiting, own["pid"]):
            await asyncio.sleep(0.01)
