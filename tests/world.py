"""`world`: an organization with its people and its time, for tests that are three paragraphs long.

    owner = await world.subscriber(plan="starter", on="2027-01-31")

    await world.until("2027-02-28")

    assert (await world.only(Invoice, purpose="renewal")).status == "paid"

What a domain's tests begin with is a method here (`subscriber`), made by the domain's factories;
time, people and reading are the same for all domains.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any, TypeVar
from uuid import UUID, uuid4

import httpx2
from sqlalchemy import select

from tests.factories import billing, paying
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.providers.cards import Cards
from tests.timeline import Clock, Timeline
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.tables import Book
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

R = TypeVar("R", bound=Row)
_MORNING = time(8, tzinfo=UTC)  # ten o'clock, local


@dataclass
class World:
    """One organization; `card` is what its card says from now on (tests/providers/cards.py)."""

    api: httpx2.AsyncClient
    host: Host
    clock: Clock
    domains: list[Domain]
    organization_id: UUID = field(default_factory=uuid4)
    card: str = "ok"

    def __post_init__(self) -> None:
        self.cards = Cards(self.host.now, lambda: self.card)
        self.timeline = Timeline(
            *(self.host, self.clock, self.domains, self.organization_id),
            adapters={Providers: self.cards},
            undone=paying.UNDONE,
        )

    async def at(self, day: str) -> None:
        """Begin in the morning of a day; what was due before is not looked at."""
        self.clock.set(datetime.combine(date.fromisoformat(day), _MORNING))

    async def until(self, day: str) -> None:
        """Let time pass to the beginning of a day, with all that is due then."""
        await self.timeline.until(local_midnight(date.fromisoformat(day)))

    async def as_(self, role: str) -> Member:
        """Somebody with that role who has just signed in; sessions end when time passes."""
        return await people.member(self.host, self.organization_id, role=role, sandbox=True)

    async def get(self, path: str, *, role: str = "owner") -> Any:
        """What a member with that role reads."""
        answer = await self.api.get(path, headers=await self._headers(role))
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, *, role: str = "owner", **body: Any) -> httpx2.Response:
        """What a member with that role does, with all that follows from it now."""
        answer = await self.api.post(path, json=body, headers=await self._headers(role))
        await self.timeline.settle()
        return answer

    async def _headers(self, role: str) -> dict[str, str]:
        who = await self.as_(role)
        return who.headers | {"X-Organization-Id": str(self.organization_id)}

    async def only(self, row: type[R], **columns: Any) -> R:
        """The one row of the organization with these values."""
        (found,) = await self.all(row, **columns)
        return found

    async def all(self, row: type[R], **columns: Any) -> list[R]:
        """The rows of the organization with these values, in the order in which they were made."""
        made = billing.working(self.host, self.organization_id)
        reader = Reader(self.host, row.__table__.schema or "", made._scope, made.origin)
        table = row.__table__
        chosen = [table.c[name] == value for name, value in columns.items()]
        try:
            return await reader.all(select(row).where(*chosen).order_by(table.c.id))
        finally:
            await reader.close()

    async def subscriber(
        self, *, plan: str, on: str, interval: str = "month", credit: str | None = None
    ) -> Member:
        """The owner of an organization that bought a plan with its card on a day and paid."""
        await self.at(on)
        owner = await self.as_("owner")
        account = await billing.account(self.host, self.organization_id, book=Book.SANDBOX)
        method = await paying.card(self.host, account)
        bought = await self.post(
            *("/billing/subscriptions",),
            planCode=plan,
            interval=interval,
            paymentMethodId=str(method.id),
        )
        assert bought.status_code == 201, bought.text
        if credit is not None:
            booking = journal.bank_transfer_booking(Money.of(credit))
            await billing.entry(self.host, self.organization_id, booking, book=Book.SANDBOX)
        return owner
