"""Where a customer comes back to after paying: one of our own origins, byte for byte (BIL-30)."""

from typing import Any

import httpx2
import pytest

from tests.domains.billing.paying import RETURN, owner, within
from tests.factories import identity as people
from tests.factories import payments
from thenga.kernel.process.host import Host

__all__ = ["owner"]
pytestmark = pytest.mark.rule("BIL-30")

HOST = "app.thenga.example"
EVIL = (
    "https://evil.example/",
    "//evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    f"http://{HOST}/",
    f"HTTPS://{HOST}/",
    f"https://{HOST}.evil.example/",
    f"https://evil.example/{HOST}",
    f"https://{HOST}@evil.example/",
    f"https://user:secret@{HOST}/",
    f"https://{HOST}:443/",
    f"https://{HOST}:8443/",
    f"https://{HOST}:/",
    f"https://{HOST}:99999/",
    f"https://{HOST}\\@evil.example/",
    f"https://{HOST}\\.evil.example/",
    f"https:\\\\{HOST}/",
    f"https:///{HOST}/",
    f"https://{HOST}%2eevil.example/",
    f"https://{HOST}%00.evil.example/",
    f"https://{HOST}\r\nLocation: https://evil.example/",
    f"https://{HOST}/\n",
    f"https://{HOST}/\t",
    f" https://{HOST}/",
    f"https://{HOST} .evil.example/",
    f"https://{HOST}\u3002evil.example/",
    "https://\u0430pp.thenga.example/",
    "https://app.thenga.example\u2044evil/",
    "https://xn--pp-7kc.thenga.example/",
    f"https://{HOST}./",
    "https://[::1]/",
    "https://[",
    f"https://{HOST}]/",
    "https://",
    "",
    f"https://{HOST}/" + "a" * 600,
)
GOOD = (RETURN, f"https://{HOST}", f"https://{HOST}/a?b=//evil.example#c", f"https://{HOST}/@evil")


async def pay(
    api: httpx2.AsyncClient, owner: people.Member, invoice_id: Any, return_url: str
) -> httpx2.Response:
    body = {"invoiceId": str(invoice_id), "provider": "paystack", "returnUrl": return_url}
    return await api.post("/billing/payments", json=body, headers=within(owner))


async def test_a_customer_comes_back_to_our_own_pages_only(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    due = await payments.invoice(host, owner.organization_id)

    answers = {url: await pay(api, owner, due.id, url) for url in EVIL}

    accepted = [url for url, one in answers.items() if one.status_code < 400]
    broken = [url for url, one in answers.items() if one.status_code >= 500]
    print(f"urls={len(EVIL)} accepted={len(accepted)} 5xx={len(broken)}")
    assert (accepted, broken) == ([], [])
    assert {one.status_code for one in answers.values()} == {422}


@pytest.mark.parametrize("url", GOOD)
async def test_our_own_pages_are_accepted(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, url: str
):
    due = await payments.invoice(host, owner.organization_id)

    answer = await pay(api, owner, due.id, url)

    assert answer.status_code in (201, 202), answer.text
