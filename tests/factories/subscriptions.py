"""A customer who buys, pays and changes at a set clock; a test says what the provider answers."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2

from tests.conftest import Time
from tests.factories import billing
from tests.factories import identity as people
from tests.providers.cards import Cards
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import (
    Account,
    Book,
    Interval,
    MethodKind,
    Payment,
    PaymentMethod,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.crypto import sealing
from thenga.kernel.db import sealed
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

_DOMAINS = topology.load(["billing"])
# What was to be asked of a provider, printed or told: a test says itself what came of it.
_UNDONE = ("start_payment", "charge_payment", "send_refund", "render_pdf", "tell_payer")
ADDRESS = {"line1": "12 Industria Road", "city": "Roodepoort", "postal_code": "1709"}
BILL_TO = {"legal_name": "Mokoena Plant Hire (Pty) Ltd", "address": ADDRESS | {"country": "ZA"}}


def instant(text: str) -> datetime:
    """A moment of a test, in UTC: `2026-11-14 10:00`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Customer:
    """An organization at the application's door, with a clock that stands where it was set.

    It is a sandbox, so its documents have series of their own: a number of the live series never
    has a later date than the next, and these tests go to and fro in time.
    """

    host: Host
    api: httpx2.AsyncClient
    clock: Time
    id: UUID = field(default_factory=uuid4)
    headers: dict[str, str] = field(default_factory=dict)
    method_id: UUID | None = None

    def __post_init__(self) -> None:
        silent = Cards(self.host.now, lambda: "silent")
        self.timeline = Timeline(
            *(self.host, self.clock, _DOMAINS, self.id),
            adapters={Providers: silent},
            undone=_UNDONE,
        )

    async def at(self, text: str) -> None:
        """Go to a moment; sessions end by themselves, so somebody signs in anew."""
        self.clock.set(instant(text))
        who = await people.member(self.host, self.id, role="owner", sandbox=True)
        self.headers = who.headers | {"X-Organization-Id": str(self.id)}

    async def post(self, path: str, **body: Any) -> httpx2.Response:
        answer = await self.api.post(f"/billing/{path}", json=body, headers=self.headers)
        await self.timeline.take_out()
        return answer

    async def get(self, path: str) -> Any:
        answer = await self.api.get(f"/billing/{path}", headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def read(self, subscription_id: str) -> Any:
        return await self.get(f"subscriptions/{subscription_id}")

    async def buy(self, plan: str = "starter", interval: str = "month") -> Any:
        """Bought with the method on file and paid at once."""
        bought = await self.start(plan, interval)
        await self.pay(bought["payment"]["id"])
        return await self.read(bought["id"])

    async def start(self, plan: str = "starter", interval: str = "month") -> Any:
        """Bought and not paid yet."""
        answer = await self.post(
            "subscriptions", planCode=plan, interval=interval, paymentMethodId=str(self.method_id)
        )
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def pay(self, payment_id: str, status: StatedStatus = StatedStatus.SUCCEEDED) -> None:
        """What the provider says of a payment, and the documents that follow."""
        await self.hear(payment_id, status)
        await self.number()

    async def hear(self, payment_id: str, status: StatedStatus = StatedStatus.SUCCEEDED) -> None:
        """What the provider says of a payment; the documents wait for their numbers."""
        work = billing.working(self.host, self.id)
        payment = await work.get(Payment, UUID(payment_id))
        said = ProviderReport(
            reference=payment.reference,
            kind=StatementKind.PAYMENT,
            status=status,
            provider_reference=str(new_id()),
            amount_minor=payment.amount_minor,
            currency=payment.currency,
            provider_at=work.now,
            code=None if status is StatedStatus.SUCCEEDED else "51",
            category=None if status is StatedStatus.SUCCEEDED else "soft",
        )
        await provider_results.apply_report(work, payment.id, said)
        await work.finish()

    async def number(self) -> None:
        """Give numbers until no document of this organization waits."""
        await self.timeline.work_off()

    async def sweep(self) -> None:
        """Do what is due now; no provider says anything by itself."""
        await self.timeline.settle()

    async def told(self) -> list[str]:
        """The events of this organization in their order; a subscription's with its change."""
        async with self.host.engines.connection("billing", "billing_system") as connection:
            found = await connection.fetch(
                "SELECT envelope::jsonb ->> 'type' AS type, "
                "envelope::jsonb -> 'data' ->> 'change' AS change FROM billing.outbox "
                "WHERE organization_id = $1 ORDER BY position",
                self.id,
            )
        names = [(row["type"].split(".")[1], row["change"]) for row in found]
        return [f"{name}:{change}" if change else name for name, change in names]

    async def rows(self, statement: str, *arguments: Any) -> list[Any]:
        """Rows of this organization, $1 being its identifier."""
        async with self.host.engines.connection("billing", "billing_system") as connection:
            return list(await connection.fetch(statement, self.id, *arguments))


async def customer(
    host: Host, api: httpx2.AsyncClient, clock: Time, at: str, **account: Any
) -> Customer:
    """A customer who is billed and has a card on file, at a moment."""
    made = Customer(host, api, clock)
    await made.at(at)
    await billing.account(host, made.id, **{"bill_to": BILL_TO, "book": Book.SANDBOX} | account)
    made.method_id = (await method(host, made.id)).id
    return made


async def method(host: Host, organization_id: UUID, provider: str = "sandbox") -> PaymentMethod:
    """A card on file; no provider has ever seen it."""
    work = billing.working(host, organization_id)
    token, key = str(new_id()).encode(), host.key("payment-method")
    account = await work.lock_by(Account)
    made = await work.add(
        PaymentMethod(
            organization_id=organization_id,
            account_id=account.id,
            provider=provider,
            kind=MethodKind.CARD,
            brand="visa",
            last4="4242",
            preferred=True,
            sealed_token=sealed.seal(
                host, PaymentMethod, "sealed_token", token, organization_id=organization_id
            ),
            token_hash=sealing.mac(key, token),
        )
    )
    await work.finish()
    return made


async def subscription(host: Host, organization_id: UUID, **fields: Any) -> Subscription:
    """A subscription as a row, with its account."""
    account = await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    known = {"plan_code": "starter", "plan_version": 1, "interval": "month"} | fields
    try:
        made = await work.add(
            Subscription(organization_id=organization_id, account_id=account.id, **known)
        )
        await work.finish()
    finally:
        await work.close()
    return made


_END = """
    UPDATE billing.subscription SET status = 'ended', next_check_at = NULL, pending_change = NULL
    WHERE kind = 'base' AND status NOT IN ('ended', 'incomplete_expired')
"""
_LAPSE = "UPDATE billing.trial SET status = 'expired', next_check_at = NULL WHERE status = 'active'"
_TAKE_BACK = "UPDATE billing.subscription SET pending_change = NULL WHERE id = $1"


async def none_left(host: Host, organization_id: UUID) -> None:
    """An organization of a sandbox that holds no plan any more."""
    await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    try:
        await work.lock_by(Account)  # as the services do: one after the other
        await work.run(_END)
        await work.run(_LAPSE)
        await current.refresh(work, reason="test")
        await work.finish()
    finally:
        await work.close()


async def base(host: Host, organization_id: UUID) -> Subscription:
    """The plan of an organization of a sandbox that nobody has changed yet; made if need be."""
    account = await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    try:
        await work.lock_by(Account)
        known = await work.find(
            Subscription,
            kind=PlanKind.BASE,
            status=SubscriptionStatus.ACTIVE,
            plan_code="professional",
        )
        if known is None:
            await work.run(_END)
            await work.run(_LAPSE)
            known = await work.add(_begun(work, account, plan_code="professional"))
        await work.run(_TAKE_BACK, known.id)
        await current.refresh(work, reason="test")
        await work.finish()
    finally:
        await work.close()
    return known


async def addon(host: Host, organization_id: UUID) -> Subscription:
    """An add-on that runs; there may be several beside each other, unlike a base.

    Beside one that is paused already, so that pausing it too does not move the day until which
    the set of entitlements stays the same.
    """
    account = await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    try:
        await work.lock_by(Account)
        paused = _begun(work, account, status=SubscriptionStatus.PAUSED)
        paused.paused_on, paused.banked_days = local_day(work.now), 7
        if await work.find(Subscription, status=SubscriptionStatus.PAUSED) is None:
            await work.add(paused)
        made = await work.add(_begun(work, account))
        await current.refresh(work, reason="test")
        await work.finish()
    finally:
        await work.close()
    return made


def _begun(work: Work, account: Account, **fields: Any) -> Subscription:
    period = periods.period_number(local_day(work.now), Interval.MONTH, 0)
    kind = PlanKind.BASE if "plan_code" in fields else PlanKind.ADDON
    known: dict[str, Any] = {"plan_code": "ai-boost", "status": SubscriptionStatus.ACTIVE}
    return Subscription(
        organization_id=account.organization_id,
        account_id=account.id,
        plan_version=1,
        kind=kind,
        interval=Interval.MONTH.value,
        anchor_date=period.start,
        period_start=period.start,
        period_end=period.end,
        **known | fields,
    )
