"""Paystack, PayFast and Stripe as far as we call them, able to be slow, silent and forgetful."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

SHORT = 2.0  # seconds after which a silent provider is given up; room for a busy machine


@dataclass
class Behaviour:
    """What the provider does next; tests turn these."""

    silent: bool = False  # the work is done and no answer comes
    away: bool = False  # 503 before anything is done
    decline: str | None = None
    refuse: str | None = None  # it cannot take the order, so nothing is charged
    pending: bool = False  # it has the charge and does not know yet
    off_minor: int = 0  # how far what it says is off
    valid: str = "VALID"
    charges: list[dict[str, Any]] = field(default_factory=list)
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: int = 0
    asked_of: list[str] = field(default_factory=list)  # payments whose refunds were asked for
    opened: list[str] = field(default_factory=list)  # references of pages that were made
    refunds: list[dict[str, Any]] = field(default_factory=list)
    refund_state: str = "processed"

    async def _keep_silent(self, request: Request) -> None:
        """Answer nothing until the caller has given up."""
        while self.silent and not await request.is_disconnected():
            await asyncio.sleep(0.01)


class PaystackServer(Behaviour):
    """`/transaction/initialize`, `/charge_authorization`, `/verify`, `/refund`."""

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/transaction/initialize", self._initialize, methods=["POST"]),
                Route("/transaction/charge_authorization", self._charge, methods=["POST"]),
                Route("/transaction/verify/{reference}", self._verify),
                Route("/refund", self._refund, methods=["POST"]),
                Route("/refund", self._refunds),
            ]
        )

    async def _initialize(self, request: Request) -> Response:
        given = await request.json()
        if given["reference"] in self.opened:
            said = {"status": False, "message": "Duplicate Transaction Reference"}
            return JSONResponse(said, 400)
        self.opened.append(given["reference"])
        await self._keep_silent(request)
        url = f"https://checkout.paystack.com/{given['reference']}"
        return JSONResponse({"status": True, "data": {"authorization_url": url}})

    async def _charge(self, request: Request) -> Response:
        if self.away:
            return JSONResponse({"status": False}, 503)
        given = await request.json()
        if given["reference"] in self.known:
            said = {"status": False, "message": "Duplicate Transaction Reference"}
            return JSONResponse(said, 400)
        self.charges.append(given)
        data = {
            "id": uuid4().int % 10**12,
            "status": "pending" if self.pending else "failed" if self.decline else "success",
            "reference": given["reference"],
            "amount": given["amount"] + self.off_minor,
            "currency": given["currency"],
            "fees": given["amount"] // 50,
            "gateway_response": self.decline or "Approved",
            "paid_at": "2026-11-14T08:00:00.000Z",
        }
        self.known[given["reference"]] = data
        await self._keep_silent(request)
        return JSONResponse({"status": True, "data": data})

    async def _verify(self, request: Request) -> Response:
        self.asked += 1
        if self.away:
            return JSONResponse({"status": False}, 503)
        found = self.known.get(request.path_params["reference"])
        if found is None:
            said = {"status": False, "message": "Transaction reference not found."}
            return JSONResponse(said, 400)
        return JSONResponse({"status": True, "data": found})

    async def _refund(self, request: Request) -> Response:
        if self.away:
            return JSONResponse({"status": False}, 503)
        given = await request.json()
        data = {"id": uuid4().int % 10**12, "status": self.refund_state, **given}
        self.refunds.append(data)
        await self._keep_silent(request)
        return JSONResponse({"status": True, "data": data})

    async def _refunds(self, request: Request) -> Response:
        self.asked += 1
        self.asked_of.append(request.query_params["transaction"])
        if self.away:
            return JSONResponse({"status": False}, 503)
        found = [one | {"status": self.refund_state} for one in self.refunds]
        return JSONResponse({"status": True, "data": found})


class PayFastServer(Behaviour):
    """`/eng/query/validate`, ad hoc charges and the query."""

    word: Any = None  # what it says of a charge, where that is neither yes nor no

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/eng/query/validate", self._validate, methods=["POST"]),
                Route("/subscriptions/{token}/adhoc", self._charge, methods=["POST"]),
                Route("/process/query/{number}", self._query),
            ]
        )

    async def _validate(self, request: Request) -> Response:
        self.asked += 1
        self.charges.append({"string": (await request.body()).decode()})
        return PlainTextResponse(self.valid)

    async def _charge(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        if self.refuse is not None:
            return JSONResponse({"code": 400, "status": self.refuse}, 400)
        self.charges.append(form)
        said = self.word or ("true" if self.decline is None else "false")
        data = {"response": said, "message": self.decline or "Transaction was successful (00)"}
        number = f"pf{uuid4().int % 10**12}"
        self.known[form["m_payment_id"]] = {
            "status": "COMPLETE" if self.decline is None else "FAILED",
            "pf_payment_id": number,
            "amount": int(form["amount"]),
        }
        await self._keep_silent(request)
        told = {"code": 200, "status": "success", "data": data | {"pf_payment_id": number}}
        return JSONResponse(told)

    async def _query(self, request: Request) -> Response:
        found = self.known.get(request.path_params["number"])
        if found is None:
            return JSONResponse({"code": 404, "status": "not found"}, 404)
        return JSONResponse({"code": 200, "data": {"response": found}})
