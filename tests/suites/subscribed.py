"""A plan that is bought and paid with the sandbox provider, and what time must make of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx2

from tests.providers import signing
from tests.providers.loopback import serving
from tests.suites import books, clocks
from thenga.domains.billing.adapters.providers import sandbox_secret
from thenga.domains.billing.adapters.sandbox_server import SandboxServer
from thenga.kernel.process.host import Host
from thenga.tooling.dev.processes import free_ports


@asynccontextmanager
async def provider(host: Host) -> AsyncIterator[tuple[SandboxServer, str]]:
    """The sandbox provider and its address; it answers, and calls nobody back by itself."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    server = SandboxServer(
        secret=sandbox_secret(host), base_url=url, notify_base="nobody", now=host.now
    )
    async with serving(server.app, port):
        yield server, url


async def buy(
    api: httpx2.AsyncClient, host: Host, place: clocks.Place, server: SandboxServer
) -> clocks.Place:
    """Starter by the month, paid at the provider's page; the worker must run."""
    headers = place.owner.headers | {"X-Organization-Id": str(place.id)}

    async def get(path: str) -> Any:
        return (await api.get(path, headers=headers)).json()

    async def opened() -> bool:
        return bool((await get("/billing/accounts"))["items"])

    await clocks.until(opened)
    body: dict[str, Any] = {"billTo": {"legalName": "Mokoena Plant Hire (Pty) Ltd"}}
    await api.post("/billing/accounts", json=body, headers=headers)
    body = {"planCode": "starter", "interval": "month", "provider": "sandbox"}
    bought = (await api.post("/billing/subscriptions", json=body, headers=headers)).json()
    payment = f"/billing/payments/{bought['payment']['id']}"

    async def shown() -> bool:
        return (await get(payment))["nextAction"] is not None

    await clocks.until(shown, pause=0.2)
    await _pay(api, host, server, (await get(payment))["nextAction"]["url"])

    async def active() -> bool:
        found = await get(f"/billing/subscriptions/{bought['id']}")
        return bool(found["status"] == "active")

    await clocks.until(active, pause=0.2)
    return replace(place, subscription=bought["id"])


async def _pay(api: httpx2.AsyncClient, host: Host, server: SandboxServer, page: str) -> None:
    """At the provider's page, with a card that is kept; then the provider calls back."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
        event = (await browser.post(f"{page}/ok")).json()
    sent = signing.sandbox(event, host.now(), sandbox_secret(host))
    await api.post(sent.path, content=sent.body, headers=list(sent.headers))


async def sold(host: Host, place: clocks.Place, server: SandboxServer) -> dict[UUID, books.Sold]:
    """The invoices of the place; a charge that belongs to none of them is a fault."""
    async with host.engines.connection("billing", "billing_system") as connection:
        charges = books.charges_of(server.payments)
        found, strange = await books.sold(connection, [place.id], charges)
    assert strange == 0
    return found


async def balance(host: Host, place: clocks.Place) -> books.Balance:
    async with host.engines.connection("billing", "billing_system") as connection:
        return await books.balance(connection, place.id)


async def all_paid(
    host: Host, place: clocks.Place, server: SandboxServer, count: int, *, seconds: float
) -> int:
    """How many invoices are paid, once that many are or time is up."""

    async def paid() -> int:
        invoices = (await sold(host, place, server)).values()
        return sum(one.status == "paid" for one in invoices)

    async def enough() -> bool:
        return await paid() >= count

    with suppress(TimeoutError):  # the count says it
        await clocks.until(enough, seconds=seconds, pause=0.3)
    return await paid()
