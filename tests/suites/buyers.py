"""Buyers who pay while everything around them dies: one plan in one sandbox after another."""

import asyncio
from typing import Any
from uuid import UUID

import httpx2

from tests.suites.clients import Caller

PERIODS = 2  # the one that is bought, and the one that time brings
_PAST_THE_FIRST = 40  # days, so that one period is over and the next is not
_PATIENCE_SECONDS = 600.0
# What the provider makes of a card that pays: told once, twice, the wrong way round, forged first.
_CARDS = ("ok", "twice", "reversed_order", "forged")


class Buyer:
    """One person who buys, pays at the provider's page, and lets time bring the renewal."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def run(self, stop: asyncio.Event) -> None:
        """Buy until stopped; what was begun is finished."""
        async with self._caller, httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
            while not stop.is_set():
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self._buy(browser)

    async def _buy(self, browser: httpx2.AsyncClient) -> None:
        home = await self._caller.found("sandbox")
        await self._caller.await_rights(home)
        payer = {"billTo": {"legalName": "Mokoena Plant Hire (Pty) Ltd"}}
        await self._caller.write("POST", "/billing/accounts", payer, within=home)
        wish = {"planCode": "starter", "interval": "month", "provider": "sandbox"}
        bought = await self._caller.write("POST", "/billing/subscriptions", wish, within=home)
        page = await self._page(home, bought["payment"]["id"])
        card = self._caller.chance.choice(_CARDS)
        (await browser.post(f"{page}/{card}")).raise_for_status()
        path = f"/billing/subscriptions/{bought['id']}"
        while (await self._caller.read(path, within=home))["status"] != "active":
            await asyncio.sleep(0.2)
        await self._caller.move_clock(home, _PAST_THE_FIRST)
        self._caller.ledger.bought[home] = UUID(bought["id"])

    async def _page(self, home: UUID, payment_id: str) -> str:
        """Where the provider wants to be paid, once the worker has asked it."""
        while True:
            path = f"/billing/payments/{payment_id}"
            action: dict[str, Any] | None = (await self._caller.read(path, within=home))[
                "nextAction"
            ]
            if action is not None:
                return str(action["url"])
            await asyncio.sleep(0.2)
