"""Callbacks: kept fast, worked on once, and never stopped by a forged one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.domains.billing.paying import booked, owner, read, told, until
from tests.domains.billing.test_signatures import deliver, kept
from tests.factories import billing, identity, payments
from tests.factories import identity as people
from tests.providers import signing
from tests.providers.loopback import serving, worker
from tests.providers.servers import PayFastServer
from tests.suites import flows
from thenga.domains.billing.adapters.providers import Providers, sandbox_secret
from thenga.domains.billing.adapters.sandbox_server import TOKENS, SandboxServer
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.tables import Book, Payment
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

__all__ = ["owner"]


@pytest.fixture
async def operator(host: Host, seeded: None) -> dict[str, str]:
    return (await identity.staff(host, "platform_operator")).headers


@pytest.fixture
async def payfast(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PayFastServer]:
    server = PayFastServer()
    async with serving(server.app) as url:
        monkeypatch.setenv("THENGA_PAYFAST_URL_BILLING", url)
        yield server


def charged(of: Payment, number: int | None = None, **more: Any) -> signing.Sent:
    data = {
        "id": number or uuid4().int % 10**12,
        "reference": of.reference,
        "amount": of.amount_minor,
        "currency": "ZAR",
        "status": "success",
        "fees": 1248,
        "paid_at": "2026-11-14T08:00:00.000Z",
    }
    return signing.paystack("charge.success", data | more)


async def worked(host: Host, of: Payment, *, status: str) -> dict[str, Any]:
    """The callback of a payment once its job has done its work."""
    found: dict[str, Any] = {}

    async def there() -> bool:
        async with host.engines.connection("billing", "billing_system") as connection:
            row = await connection.fetchrow(
                "SELECT id, status, note FROM billing.provider_callback "
                "WHERE statement ->> 'reference' = $1 AND status = $2",
                of.reference,
                status,
            )
        found.update(row or {})
        return row is not None

    async with worker(host):
        await flows.until(there)
    return found


@pytest.mark.rule("BIL-34")
async def test_success_reported_five_times_at_once_is_one_payment(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    of = await payments.payment(host, owner.organization_id)
    call = charged(of)

    answers = await asyncio.gather(*(deliver(api, call) for _ in range(5)))
    await worked(host, of, status="applied")

    events = await told(host, owner.organization_id)
    paid = await read(api, owner, of.id)
    print(
        f"deliveries=5 answered={[one.status_code for one in answers]} "
        f"PaymentSucceeded={events.count('PaymentSucceeded')} statements={len(paid['statements'])}"
    )
    assert {one.status_code for one in answers} == {200}
    assert (paid["status"], paid["feeAmount"]["amount"]) == ("succeeded", "12.48")
    assert events.count("PaymentSucceeded") == 1
    assert [one["source"] for one in paid["statements"]] == ["callback"]


@pytest.mark.rule("BIL-34")
async def test_failed_commit_is_not_answered_200(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    of = await payments.payment(host, owner.organization_id)
    call = charged(of)
    right = Work.finish

    async def breaks(self: Work, *more: Any) -> None:
        raise ConnectionResetError("the server is gone")

    monkeypatch.setattr(Work, "finish", breaks)
    lost = await deliver(api, call)
    monkeypatch.setattr(Work, "finish", right)
    kept = await deliver(api, call)
    await worked(host, of, status="applied")

    assert (lost.status_code, kept.status_code) == (503, 200)
    assert (await told(host, owner.organization_id)).count("PaymentSucceeded") == 1


@pytest.mark.rule("BIL-37")
async def test_a_forged_one_first_does_not_block_the_true_one(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    of = await payments.payment(host, owner.organization_id)
    true = charged(of)
    forged = signing.Sent("paystack", true.body, (("x-paystack-signature", "0" * 128),))

    first = await deliver(api, forged)
    second = await deliver(api, true)
    await worked(host, of, status="applied")

    async with host.engines.connection("billing", "billing_system") as connection:
        cause = await connection.fetchval(
            "SELECT cause FROM billing.callback_rejection WHERE sha256 = sha256($1)", true.body
        )
    assert (first.status_code, second.status_code) == (401, 200)
    assert (await read(api, owner, of.id))["status"] == "succeeded"
    assert cause == "signature"


@pytest.mark.rule("BIL-36")
async def test_a_true_signature_over_another_amount_changes_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    of = await payments.payment(host, owner.organization_id)

    answer = await deliver(api, charged(of, amount=499))
    aside = await worked(host, of, status="quarantined")

    shown = await api.get(f"/billing/provider-callbacks/{aside['id']}", headers=operator)
    listed = await api.get(
        "/billing/provider-callbacks?status=quarantined&provider=paystack&sort=-createdAt",
        headers=operator,
    )
    payment = await read(api, owner, of.id)
    print(f"status={answer.status_code} callback={shown.json()['status']} {shown.json()['note']}")
    assert answer.status_code == 200
    assert shown.json()["note"] == "amount_differs"
    said = shown.json()["statement"]
    assert said["amount"] == {"amount": "4.99", "currency": "ZAR"}
    assert (said["reference"], said["providerReference"] is None) == (of.reference, False)
    assert str(aside["id"]) in [one["id"] for one in listed.json()["items"]]
    assert (payment["status"], payment["statements"][0]["outcome"]) == (
        "requires_action",
        "quarantined",
    )
    assert await told(host, owner.organization_id) == ["PaymentMismatchFound"]
    assert await booked(host, owner.organization_id) == {}


async def test_unmatched_callback_is_quarantined_and_can_be_replayed(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    of = await payments.payment(host, owner.organization_id)
    work = billing.working(host, owner.organization_id)
    await work.run("UPDATE billing.payment SET reference = 'LOST' || id WHERE id = $1", of.id)
    await work.finish()

    await deliver(api, charged(of))
    aside = await worked(host, of, status="quarantined")
    found = billing.working(host, owner.organization_id)
    await found.run("UPDATE billing.payment SET reference = $2 WHERE id = $1", of.id, of.reference)
    await found.finish()
    path = f"/billing/provider-callbacks/{aside['id']}/replay"
    replayed = await api.post(path, headers=operator)
    await worked(host, of, status="applied")
    again = await api.post(path, headers=operator)

    assert (aside["note"], replayed.status_code) == ("unknown_reference", 200)
    assert [one["move"] for one in replayed.json()["allowedMoves"]] == ["replay"]
    assert (await read(api, owner, of.id))["status"] == "succeeded"
    assert (again.status_code, again.json()["status"]) == (200, "applied")


async def test_what_does_not_concern_us_is_ignored_and_not_replayed(
    api: httpx2.AsyncClient, host: Host, operator: dict[str, str]
):
    number = uuid4().int % 10**12
    await deliver(api, signing.paystack("subscription.create", {"id": number}))
    found: dict[str, UUID] = {}

    async def ignored() -> bool:
        async with host.engines.connection("billing", "billing_system") as connection:
            found["id"] = await connection.fetchval(
                "SELECT id FROM billing.provider_callback "
                "WHERE event_key = $1 AND status = 'ignored'",
                f"subscription.create:{number}",
            )
        return found["id"] is not None

    async with worker(host):
        await flows.until(ignored)
    replay = await api.post(f"/billing/provider-callbacks/{found['id']}/replay", headers=operator)

    assert (replay.status_code, replay.json()["from"]) == (409, "ignored")


async def test_what_was_forgotten_is_not_worked_on_again(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, operator: dict[str, str]
):
    of = await payments.payment(host, owner.organization_id)
    await deliver(api, charged(of, amount=499))
    kept = await worked(host, of, status="quarantined")
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "UPDATE billing.provider_callback SET sealed_content = NULL WHERE id = $1", kept["id"]
        )

    replay = await api.post(f"/billing/provider-callbacks/{kept['id']}/replay", headers=operator)

    assert (replay.status_code, replay.json()["code"]) == (409, "invalid-transition")
    assert "90 days" in replay.json()["detail"]


@pytest.mark.rule("BIL-38")
@pytest.mark.parametrize(
    ("answer", "callback", "payment"),
    [("INVALID", "quarantined", "requires_action"), ("VALID", "applied", "succeeded")],
)
async def test_payfast_must_say_valid(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    answer: str,
    callback: str,
    payment: str,
):
    payfast.valid = answer
    of = await payments.payment(host, owner.organization_id, provider="payfast")
    number = str(uuid4().int % 10**9)
    call = signing.payfast(signing.itn(of.reference, "COMPLETE", number, "499.00"))

    delivered = await deliver(api, call)
    await worked(host, of, status=callback)

    shown = await read(api, owner, of.id)
    print(f"validate={answer} callback={callback} payment={shown['status']}")
    assert (delivered.status_code, shown["status"]) == (200, payment)
    assert payfast.charges[0]["string"] == call.body.partition(b"&signature=")[0].decode()
    assert b"item_description=&" in call.body


@pytest.mark.rule("BIL-38")
@pytest.mark.parametrize(("gross", "status"), [("498.99", "applied"), ("498.98", "quarantined")])
async def test_payfast_may_be_a_cent_off(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    gross: str,
    status: str,
):
    of = await payments.payment(host, owner.organization_id, provider="payfast")
    number = str(uuid4().int % 10**9)

    await deliver(api, signing.payfast(signing.itn(of.reference, "COMPLETE", number, gross)))
    found = await worked(host, of, status=status)

    assert found["status"] == status


async def test_the_application_can_add_a_callback_and_nothing_else(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    call = charged(await payments.payment(host, owner.organization_id))
    await deliver(api, call)
    async with host.engines.connection("billing", "billing") as connection:
        rights = await connection.fetch(
            "SELECT privilege_type FROM information_schema.role_table_grants "
            "WHERE table_schema = 'billing' AND table_name = 'provider_callback' "
            "AND grantee = 'billing' ORDER BY 1"
        )
        shown = await connection.fetchval(
            "SELECT count(*) FROM billing.provider_callback WHERE sha256 = sha256($1)", call.body
        )

    assert [one["privilege_type"] for one in rights] == ["INSERT", "SELECT"]
    assert (await kept(host, call), shown) == (1, 0)  # only staff on the platform are shown any


@pytest.fixture
async def sandboxes(
    host: Host, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SandboxServer]:
    """The sandbox provider and our own API, both on ports."""
    async with serving(app) as ours:
        monkeypatch.setattr(host.settings, "base_url", ours)
        server = SandboxServer(
            secret=sandbox_secret(host), base_url="", notify_base=ours, now=host.now, silence=1.0
        )
        async with serving(server.app) as url:
            server._base = url
            monkeypatch.setenv("THENGA_SANDBOX_URL_BILLING", url)
            yield server


@pytest.fixture
async def player(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner", sandbox=True)
    await billing.account(host, who.organization_id, book=Book.SANDBOX)
    return who


ENDS = {
    "ok": "succeeded",
    "decline_funds": "failed",
    "decline_stolen": "failed",
    "challenge": "failed",
    "twice": "succeeded",
    "reversed_order": "succeeded",
    "dispute": "succeeded",
    "forged": "succeeded",
}


@pytest.mark.rule("BIL-29")
async def test_a_sandbox_pays_on_the_sandboxs_own_page_by_every_token(
    api: httpx2.AsyncClient, host: Host, player: people.Member, sandboxes: SandboxServer
):
    ends: dict[str, str] = {}
    async with worker(host), httpx2.AsyncClient(timeout=60) as browser:
        for token in ENDS:
            made = await payments.begun(
                host, player.organization_id, PaymentChoice(provider="sandbox")
            )
            waits = await until(api, player, made.id, "requires_action")
            page = await browser.get(waits["nextAction"]["url"])
            assert all(one in page.text for one in TOKENS)
            await browser.post(f"{waits['nextAction']['url']}/{token}")
            ends[token] = (await until(api, player, made.id, "succeeded", "failed"))["status"]

        async def disputed() -> bool:
            return "PaymentDisputed" in await told(host, player.organization_id)

        await flows.until(disputed)
    events = await told(host, player.organization_id)

    print(f"tokens={len(ends)} PaymentSucceeded={events.count('PaymentSucceeded')}")
    assert ends == ENDS
    assert events.count("PaymentSucceeded") == 5
    assert {held.charges for held in sandboxes.payments.values()} == {1}


async def test_a_way_to_pay_is_added_charged_preferred_and_taken_away(
    api: httpx2.AsyncClient, host: Host, player: people.Member, sandboxes: SandboxServer
):
    account = await billing.account(host, player.organization_id, again=True)
    headers = player.headers | {"X-Organization-Id": str(player.organization_id)}
    path = f"/billing/accounts/{account.id}/payment-methods"
    async with worker(host), httpx2.AsyncClient(timeout=60) as browser:
        for _ in range(2):
            added = await api.post(path, json={"provider": "sandbox"}, headers=headers)
            waits = await until(api, player, added.json()["id"], "requires_action")
            await browser.post(f"{waits['nextAction']['url']}/ok")
            await until(api, player, added.json()["id"], "succeeded")
        first, second = (await api.get(path, headers=headers)).json()["items"]
        preferred = await api.post(
            f"/billing/payment-methods/{second['id']}/make-default", headers=headers
        )
        charged = await payments.begun(
            host, player.organization_id, PaymentChoice(payment_method_id=UUID(second["id"]))
        )
        paid = await until(api, player, charged.id, "succeeded")
    removed = await api.delete(f"/billing/payment-methods/{first['id']}", headers=headers)
    (left,) = (await api.get(path, headers=headers)).json()["items"]
    credit = (await api.get(f"/billing/accounts/{account.id}", headers=headers)).json()

    assert (added.status_code, added.json()["amount"]["amount"]) == (201, "1.00")
    assert (first["isDefault"], second["isDefault"]) == (True, False)
    assert (preferred.status_code, preferred.json()["isDefault"]) == (200, True)
    assert paid["paymentMethodId"] == second["id"]
    assert (removed.status_code, left["id"]) == (204, second["id"])
    assert (left["needed"], left["last4"]) == (False, "4242")
    assert credit["creditBalance"]["amount"] in ("2.00", "501.00")


def test_a_provider_without_a_secret_is_not_there(settings: Settings, host: Host):
    assert Providers(host).known("eft") is None
    assert Providers(host).known("paystack") is not None
