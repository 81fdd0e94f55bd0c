"""What is replayed, mixed up or forged on the way from a provider signs nobody in (IDN-16)."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from tests.conftest import Time
from tests.domains.identity.elsewhere import (
    come_back,
    person,
    signed_in,
    start,
    ticket_of,
)
from tests.factories import providers
from tests.planting import plant
from tests.providers.openid import OpenIdServer
from tests.settling import Settle
from thenga.domains.identity.adapters import openid
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.settles("identity")


@pytest.mark.rule("IDN-16")
async def test_a_state_and_a_ticket_work_once_and_for_who_began(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str
):
    begun, other = (await start(api, code)).json(), (await start(api, code)).json()
    brought = server.authorize(begun["authorizationUrl"], **person())
    back = await come_back(api, code, brought)
    body = {"method": "provider", "ticket": back["ticket"], "flowSecret": begun["flowSecret"]}

    replayed_state = await come_back(api, code, brought)
    planted = await signed_in(api, settle, body | {"flowSecret": other["flowSecret"]})
    good, replayed = await signed_in(api, settle, body), await signed_in(api, settle, body)

    assert replayed_state == {"from": "test", "error": "refused"}
    assert (planted.status_code, good.status_code, replayed.status_code) == (401, 200, 401)
    assert planted.json()["code"] == replayed.json()["code"] == "sign-in-refused"
    assert server.exchanged == 1


async def test_a_flow_ends_after_ten_minutes_and_a_ticket_after_one(
    api: httpx2.AsyncClient, clock: Time, settle: Settle, server: OpenIdServer, code: str
):
    body = await ticket_of(api, server, code, person())
    begun = (await start(api, code)).json()

    clock.move(timedelta(minutes=1, seconds=1))
    late_ticket = await signed_in(api, settle, body)
    clock.move(timedelta(minutes=9))
    late_state = await come_back(api, code, server.authorize(begun["authorizationUrl"]))

    assert late_ticket.status_code == 401
    assert late_state["error"] == "refused"


async def test_a_person_who_does_not_agree_comes_back_refused(
    api: httpx2.AsyncClient, code: str, server: OpenIdServer
):
    brought = server.authorize((await start(api, code)).json()["authorizationUrl"])

    back = await come_back(api, code, {"state": brought["state"], "error": "access_denied"})
    stranger = await come_back(api, code, {"state": "made-up", "code": "made-up"})

    assert back["error"] == stranger["error"] == "refused"


async def test_a_callback_of_another_provider_is_refused(
    api: httpx2.AsyncClient, host: Host, code: str, server: OpenIdServer
):
    other = await providers.provider(host, server.issuer)

    async def brought() -> dict[str, str]:
        return server.authorize((await start(api, code)).json()["authorizationUrl"], **person())

    mixed_up = await come_back(api, other, await brought())
    named = await come_back(api, code, await brought() | {"iss": "https://evil.example"})

    assert mixed_up["error"] == named["error"] == "refused"


FORGERIES: dict[str, dict[str, Any]] = {
    "another key": {"number": 1},
    "no signature": {"sign_with": "none"},
    "signed with the public key": {"sign_with": "HS256"},
    "another nonce": {"claims": {"nonce": "another"}},
    "no nonce": {"dropped": ("nonce",)},
    "another audience": {"claims": {"aud": "another-client"}},
    "issued to another": {"claims": {"aud": ["thenga-web", "other"], "azp": "other"}},
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "expired": {"claims": {"exp": 1}},
    "from the future": {"claims": {"iat": 4_000_000_000}},
    "without subject": {"dropped": ("sub",)},
}


async def _forged(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str, forgery: str
) -> int:
    was = {name: getattr(server, name) for name in FORGERIES[forgery]}
    body = await ticket_of(api, server, code, person())
    for name, value in FORGERIES[forgery].items():
        setattr(server, name, value)
    answer = await signed_in(api, settle, body)
    for name, value in was.items():
        setattr(server, name, value)
    return answer.status_code


@pytest.mark.rule("IDN-16")
async def test_no_forged_token_signs_anybody_in(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str
):
    found = {one: await _forged(api, settle, server, code, one) for one in FORGERIES}

    print(f"forged={len(found)} signed_in={sum(one == 200 for one in found.values())}")
    assert found == dict.fromkeys(FORGERIES, 401)


async def test_planted_unread_nonce_is_seen(
    api: httpx2.AsyncClient,
    settle: Settle,
    server: OpenIdServer,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, openid, "is_own_nonce", lambda claims, nonce: True)

    assert await _forged(api, settle, server, code, "another nonce") == 200


async def test_a_code_of_another_flow_is_refused(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str
):
    mine, theirs = (await start(api, code)).json(), (await start(api, code)).json()
    stolen = server.authorize(theirs["authorizationUrl"], **person())
    state = server.authorize(mine["authorizationUrl"])["state"]

    back = await come_back(api, code, stolen | {"state": state})
    body = {"method": "provider", "ticket": back["ticket"], "flowSecret": mine["flowSecret"]}
    answer = await signed_in(api, settle, body)

    assert (answer.status_code, server.exchanged) == (401, 0)


async def test_new_keys_of_the_provider_are_fetched_once(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str
):
    body = await ticket_of(api, server, code, person())
    server.rotate()

    answer = await signed_in(api, settle, body)

    assert (answer.status_code, server.asked_for_keys) == (200, 1)


def test_pkce_follows_the_vector():
    challenge = create_s256_code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

    assert challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
