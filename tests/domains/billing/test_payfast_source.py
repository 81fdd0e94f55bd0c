"""PayFast's callbacks come from where its names lead to, where the operator asks for that."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx2
import pytest

from tests.domains.billing.paying import read
from tests.domains.billing.test_callbacks import owner, payfast, worked
from tests.domains.billing.test_signatures import deliver
from tests.factories import identity as people
from tests.factories import payments
from tests.factories.settings import change_setting
from tests.providers import signing
from tests.providers.servers import PayFastServer
from thenga.domains.billing.adapters import payfast as adapter
from thenga.domains.billing.manifest import DOMAIN
from thenga.domains.billing.settings import PAYFAST_CHECK_SOURCE
from thenga.kernel.outside.outbound import Silence, addresses
from thenga.kernel.process.host import Host

__all__ = ["owner", "payfast"]

HERE, ELSEWHERE = "localhost", "127.0.0.2"  # the test client calls from 127.0.0.1


@pytest.fixture
async def compared(host: Host, seeded: None) -> AsyncIterator[None]:
    """The operator has the sender looked at."""
    await change_setting(host, DOMAIN, PAYFAST_CHECK_SOURCE, True)
    yield
    await change_setting(host, DOMAIN, PAYFAST_CHECK_SOURCE, False)


async def told(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, *, becomes: str
) -> tuple[str, str | None]:
    """The payment and the note of a true callback, once it has become that."""
    of = await payments.payment(host, owner.organization_id, provider="payfast")
    number = str(uuid4().int % 10**9)
    delivered = await deliver(
        api, signing.payfast(signing.itn(of.reference, "COMPLETE", number, "499.00"))
    )
    assert delivered.status_code == 200
    found = await worked(host, of, status=becomes)
    return (await read(api, owner, of.id))["status"], found["note"]


@pytest.mark.rule("BIL-38")
@pytest.mark.parametrize(
    ("names", "becomes", "payment", "note"),
    [
        (f"nowhere.invalid,{HERE}", "applied", "succeeded", None),
        (ELSEWHERE, "quarantined", "requires_action", "not_confirmed"),
    ],
    ids=["from there", "from elsewhere"],
)
async def test_the_sender_is_compared_with_the_names_of_payfast(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    compared: None,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    becomes: str,
    payment: str,
    note: str | None,
):
    monkeypatch.setenv("THENGA_PAYFAST_SENDERS_BILLING", names)

    found = await told(api, host, owner, becomes=becomes)

    print(f"names={names} sender=127.0.0.1 callback={becomes} payment={found[0]}")
    assert found == (payment, note)


@pytest.mark.rule("BIL-38")
async def test_nobody_looks_at_the_sender_unless_the_operator_says_so(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("THENGA_PAYFAST_SENDERS_BILLING", ELSEWHERE)

    assert (await told(api, host, owner, becomes="applied"))[0] == "succeeded"


async def test_names_that_lead_nowhere_are_silence_and_no_answer():
    with pytest.raises(Silence):
        await addresses(["nowhere.invalid"])


async def test_a_planted_look_that_believes_everybody_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    compared: None,
    monkeypatch: pytest.MonkeyPatch,
):
    async def anywhere(_: object) -> set[str]:
        return {"127.0.0.1"}

    monkeypatch.setenv("THENGA_PAYFAST_SENDERS_BILLING", ELSEWHERE)
    monkeypatch.setattr(adapter, "addresses", anywhere)

    assert (await told(api, host, owner, becomes="applied"))[0] == "succeeded"
