"""A plan that is not paid for, at the door: reading goes on, creating names the invoice to pay."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from tests.planting import plant
from thenga.domains.billing.services.access import levels
from thenga.domains.identity.services import decisions
from thenga.kernel.declare.permission import Effect
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

pytestmark = pytest.mark.domains("billing", "identity")

GRACE_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
# What the gate remembers of a plan is no older than a minute.
A_MOMENT = timedelta(seconds=61)
FEATURE, READ_KEYS = "identity.api_access", "identity:api_key:read"


@pytest.fixture
async def reading_needs_the_plan(settings: Settings, seeded: None) -> AsyncIterator[None]:
    """Listing keys needs the feature as making them does, while the test runs."""
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    change = "UPDATE identity.permission SET feature = $1 WHERE code = $2"
    await admin.execute(change, FEATURE, READ_KEYS)
    yield
    await admin.execute(change, None, READ_KEYS)
    await admin.close()


class Caller:
    """The owner of a company whose plan was renewed on 14 November and declined."""

    def __init__(self, api: httpx2.AsyncClient, payer: Payer, headers: dict[str, str]) -> None:
        self._api, self._payer, self._headers = api, payer, headers

    async def read(self, path: str) -> int:
        return (await self._api.get(path, headers=self._headers)).status_code

    async def reads(self) -> tuple[int, int, int]:
        """Own data that can always be taken out, invoices, and what the plan must allow."""
        own = f"/organizations/{self._payer.organization_id}/equipment"
        paths = (own, "/billing/invoices", "/identity/api-keys")
        first, second, third = [await self.read(path) for path in paths]
        return first, second, third

    async def create(self) -> httpx2.Response:
        scopes = ["organization:equipment:read"]
        body = {"name": f"Import {uuid4().hex[:6]}", "scopes": scopes, "reason": "import"}
        return await self._api.post("/identity/api-keys", json=body, headers=self._headers)

    async def pay(self, invoice_id: str) -> int:
        """With the card on file, which the bank accepts again."""
        body = {"invoiceId": invoice_id, "paymentMethodId": str(self._payer.method.id)}
        answer = await self._api.post("/billing/payments", json=body, headers=self._headers)
        self._payer.card = "ok"
        await self._payer.settle()
        return answer.status_code


async def declined(api: httpx2.AsyncClient, host: Host, clock: Time) -> Caller:
    """A moment before grace ends; all that was due till then is done."""
    payer, _ = await paying.declined(host, clock)
    await payer.at(GRACE_ENDS - A_MOMENT)
    return Caller(api, payer, await paying.owner_of(host, payer))


@pytest.mark.rule("BIL-41")
@pytest.mark.rule("BIL-46")
async def test_read_only_allows_reads_and_creates_name_what_to_pay(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    paid_for: Host,
    reading_needs_the_plan: None,
):
    caller = await declined(api, host, clock)
    in_grace = (await caller.reads(), (await caller.create()).status_code)
    clock.set(GRACE_ENDS)  # before any sweep has looked

    reads, refused = await caller.reads(), await caller.create()
    remedy: dict[str, Any] = refused.json()["remedy"]
    paid = await caller.pay(remedy["invoiceId"])
    again = await caller.create()

    print(
        f"grace={in_grace} at={GRACE_ENDS:%d %b %H:%M}Z reads={reads} create={refused.status_code} "
        f"{remedy['kind']} {remedy['amountToday']['amount']} pay={paid} then {again.status_code}"
    )
    assert in_grace == ((200, 200, 200), 201)
    assert (reads, refused.status_code) == ((200, 200, 200), 402)
    assert (refused.json()["code"], refused.json()["reasonCode"]) == (
        "entitlement-required",
        "read_only",
    )
    assert (remedy["kind"], remedy["amountToday"]["amount"]) == ("pay_invoice", "1499.00")
    assert (paid, again.status_code) == (201, 201)


async def test_a_planted_recovery_that_takes_nothing_away_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    paid_for: Host,
    monkeypatch: pytest.MonkeyPatch,
):
    caller = await declined(api, host, clock)
    plant(monkeypatch, levels, "access_reductions", lambda failure: [])
    clock.set(GRACE_ENDS)

    assert (await caller.create()).status_code == 201


async def test_a_planted_gate_that_takes_reading_away_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    paid_for: Host,
    reading_needs_the_plan: None,
    monkeypatch: pytest.MonkeyPatch,
):
    right = decisions._stages.entitled
    monkeypatch.setattr(
        decisions._stages,
        "entitled",
        lambda facts, now: right(replace(facts, effect=Effect.WRITE), now),
    )
    caller = await declined(api, host, clock)
    clock.set(GRACE_ENDS)

    with pytest.raises(AssertionError, match="list_api_keys answered 402"):
        await caller.reads()  # an answer that no document of this reading knows
