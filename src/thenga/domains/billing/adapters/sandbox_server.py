"""The sandbox provider: a small HTTP server on loopback. The token decides what happens.

It stores nothing across restarts, because no money moves. It sends callbacks only to our own
address.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from html import escape
from typing import Any

import httpx2
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from thenga.domains.billing.adapters.sandbox import signed
from thenga.kernel.outside.outbound import tls

TOKENS = {
    "ok": "The payment succeeds.",
    "decline_funds": "The bank declines: insufficient funds.",
    "decline_stolen": "The bank declines: the card is stolen.",
    "challenge": "The bank requires the customer to approve the payment.",
    "timeout_then_ok": "The request times out, but the payment succeeds.",
    "twice": "The payment succeeds and is reported twice.",
    "reversed_order": "The payment succeeds and is reported in the wrong order.",
    "dispute": "The payment succeeds and is disputed.",
    "forged": "A forged callback arrives first, then the real one.",
}
_DECLINES = {
    "decline_funds": ("51", "soft"),
    "decline_stolen": ("43", "hard"),
    "challenge": ("authentication_required", "authentication"),
}
_CARD_YEARS = 3
_FEE_PART = 40  # 2.5 %, so that the books show fees

Event = dict[str, Any]


@dataclass
class Held:
    """One payment as the sandbox knows it."""

    reference: str
    amount: int
    currency: str
    notify_url: str
    return_url: str | None
    charges: int = 0
    state: Event | None = None
    refunds: dict[str, Event] = field(default_factory=dict)


class SandboxServer:
    """The server. `silence` is how long a response that never comes is waited for."""

    def __init__(
        self,
        *,
        secret: str,
        base_url: str,
        notify_base: str,
        now: Callable[[], datetime],
        silence: float = 30.0,
    ) -> None:
        self._secret, self._base, self._notify_base = secret, base_url, notify_base
        self._now, self._silence = now, silence
        self.payments: dict[str, Held] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self.app = Starlette(
            routes=[
                Route("/checkouts", self._open, methods=["POST"]),
                Route("/checkout/{reference}", self._page, methods=["GET"]),
                Route("/checkout/{reference}/{token}", self._choose, methods=["POST"]),
                Route("/charges", self._charge, methods=["POST"]),
                Route("/payments/{reference}", self._show, methods=["GET"]),
                Route("/refunds", self._refund, methods=["POST"]),
                Route("/refunds/{reference}/{key}", self._show_refund, methods=["GET"]),
            ]
        )

    async def _open(self, request: Request) -> Response:
        held = self._held(await request.json())
        return JSONResponse({"url": f"{self._base}/checkout/{held.reference}"})

    async def _page(self, request: Request) -> Response:
        held = self.payments.get(request.path_params["reference"])
        if held is None:
            return JSONResponse({"message": "no such payment"}, 404)
        path = f"/checkout/{held.reference}"
        choices = "".join(
            f'<form method="post" action="{path}/{token}"><button>{token}</button> '
            f"{escape(text)}</form>"
            for token, text in TOKENS.items()
        )
        amount = f"{held.currency} {held.amount / 100:.2f}"
        title = "<title>Sandbox</title><h1>Sandbox</h1>"
        return HTMLResponse(f"<!doctype html>{title}<p>Pay {amount}</p>{choices}")

    async def _choose(self, request: Request) -> Response:
        held = self.payments.get(request.path_params["reference"])
        token = request.path_params["token"]
        if held is None or token not in TOKENS:
            return JSONResponse({"message": "no such payment or token"}, 404)
        self._pay(held, f"{token}:{secrets.token_hex(8)}", kept=True)
        if held.return_url is None:
            return JSONResponse(held.state)
        return RedirectResponse(held.return_url, status_code=303)

    async def _charge(self, request: Request) -> Response:
        given = await request.json()
        token = str(given.get("token"))
        if token.partition(":")[0] not in TOKENS:
            return JSONResponse({"message": "no such token"}, 422)
        held = self._held(given)
        self._pay(held, token, kept=False)
        if token.startswith("timeout_then_ok"):
            await asyncio.sleep(self._silence)
        return JSONResponse(held.state)

    async def _show(self, request: Request) -> Response:
        held = self.payments.get(request.path_params["reference"])
        if held is None:
            return JSONResponse({"message": "no such payment"}, 404)
        return JSONResponse(held.state or {"type": "payment.waiting"})

    async def _refund(self, request: Request) -> Response:
        given = await request.json()
        held = self.payments.get(str(given.get("reference")))
        if held is None:
            return JSONResponse({"message": "no such payment"}, 404)
        key = str(given["key"])
        if key not in held.refunds:
            data = {"amount": int(given["amount"]), "itemId": f"sbxr_{key}"}
            held.refunds[key] = self._event(held, "refund.succeeded", **data)
            self._schedule_callbacks(held, held.refunds[key])
        return JSONResponse(held.refunds[key])

    async def _show_refund(self, request: Request) -> Response:
        held = self.payments.get(request.path_params["reference"])
        found = held and held.refunds.get(request.path_params["key"])
        if not found:
            return JSONResponse({"message": "no such refund"}, 404)
        return JSONResponse(found)

    def _held(self, given: dict[str, Any]) -> Held:
        """The payment of a reference. The first order counts."""
        made = Held(
            str(given["reference"]),
            int(given["amount"]),
            str(given["currency"]),
            str(given["notifyUrl"]),
            given.get("returnUrl"),
        )
        return self.payments.setdefault(made.reference, made)

    def _pay(self, held: Held, token: str, *, kept: bool) -> None:
        if held.state is not None:
            return
        held.charges += 1
        behaviour = token.partition(":")[0]
        if behaviour in _DECLINES:
            code, category = _DECLINES[behaviour]
            held.state = self._event(held, "payment.failed", code=code, category=category)
            self._schedule_callbacks(held, held.state)
            return
        more: dict[str, Any] = {"fee": held.amount // _FEE_PART}
        if kept:
            more["method"] = self._method(token)
        held.state = self._event(held, "payment.succeeded", **more)
        self._schedule_callbacks(held, *self._course(held, behaviour), forged=behaviour == "forged")

    def _course(self, held: Held, behaviour: str) -> list[Event]:
        """The callbacks of a success, in their order."""
        assert held.state is not None  # noqa: S101  # set by the caller
        if behaviour == "timeout_then_ok":
            return []
        if behaviour == "twice":
            return [held.state, held.state]
        if behaviour == "reversed_order":
            return [held.state, self._event(held, "payment.processing")]
        if behaviour == "dispute":
            opened = self._event(held, "dispute.opened", itemId=f"sbxd_{held.reference}")
            return [held.state, opened]
        return [held.state]

    def _method(self, token: str) -> dict[str, Any]:
        today = self._now().date()
        ends = date(today.year + _CARD_YEARS, 1, 1) - timedelta(days=1)
        return {"token": token, "brand": "sandbox", "last4": "4242", "expiresOn": str(ends)}

    def _event(self, held: Held, kind: str, **more: Any) -> Event:
        data = {
            "reference": held.reference,
            "paymentId": f"sbxp_{held.reference}",
            "amount": held.amount,
            "currency": held.currency,
        }
        at = self._now().isoformat().replace("+00:00", "Z")
        return {"id": f"sbx_{secrets.token_hex(12)}", "type": kind, "at": at, "data": data | more}

    def _schedule_callbacks(self, held: Held, *events: Event, forged: bool = False) -> None:
        if not held.notify_url.startswith(self._notify_base):
            return
        telling = asyncio.create_task(self._send(held.notify_url, events, forged))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    async def _send(self, url: str, events: tuple[Event, ...], forged: bool) -> None:
        """Deliver callbacks in order, with growing delays if the receiver is down."""
        async with httpx2.AsyncClient(verify=tls(), timeout=10) as client:
            if forged:
                await self._post(client, url, events[0], "whsec_" + "A" * 44)
            for event in events:
                for pause in (0, 1, 5, 30, 180):
                    await asyncio.sleep(pause)
                    if await self._post(client, url, event, self._secret):
                        break

    async def _post(self, client: httpx2.AsyncClient, url: str, event: Event, secret: str) -> bool:
        body, at = orjson.dumps(event), str(int(self._now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "webhook-id": event["id"],
            "webhook-timestamp": at,
            "webhook-signature": signed(secret, event["id"], at, body),
        }
        try:
            answer = await client.post(url, content=body, headers=headers)
        except httpx2.HTTPError:
            return False
        return answer.status_code == 200
