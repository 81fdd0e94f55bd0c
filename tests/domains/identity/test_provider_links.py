"""Links between accounts and identity providers: made by their owner, removed by their owner."""

from datetime import timedelta

import httpx2
import pytest

from tests.domains.identity.elsewhere import (
    linked_to,
    person,
    signed_in,
    start,
    ticket_of,
)
from tests.factories import accounts, providers
from tests.factories import identity as people
from tests.providers.openid import OpenIdServer
from tests.settling import Settle
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.settles("identity")


async def test_a_person_links_a_provider_and_signs_in_with_it(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    someone, who = await people.person(host), person(email=None)

    linking = await ticket_of(api, server, code, who, someone.headers)
    linked = await signed_in(api, settle, linking)
    later = await signed_in(api, settle, await ticket_of(api, server, code, who))

    assert (linked.status_code, later.status_code) == (200, 200), linked.text
    (link,) = await linked_to(host, someone.user_id)
    assert link.subject == who["sub"]


async def test_linking_needs_a_session_and_a_fresh_proof(
    api: httpx2.AsyncClient, host: Host, code: str
):
    someone = await people.person(host)
    await people.aged(host, someone, timedelta(minutes=6))

    stale = await start(api, code, someone.headers)
    nobody = await start(api, code, purpose="link")

    assert (stale.status_code, stale.json()["code"]) == (403, "step-up-required")
    assert (nobody.status_code, nobody.json()["code"]) == (401, "unauthenticated")


async def test_a_link_is_not_made_for_a_session_that_ended_meanwhile(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    thief = await people.person(host)
    body = await ticket_of(api, server, code, person(), thief.headers)

    await api.post("/identity/auth/sign-out", json={}, headers=thief.headers)
    answer = await signed_in(api, settle, body)

    assert (answer.status_code, answer.json()["code"]) == (401, "sign-in-refused")
    assert await linked_to(host, thief.user_id) == []


async def test_what_is_linked_to_somebody_else_is_refused(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    first, second = await people.person(host), await people.person(host)
    who = person()
    await providers.linked(host, code, first.user_id, who["sub"])

    answer = await signed_in(api, settle, await ticket_of(api, server, code, who, second.headers))

    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert await linked_to(host, second.user_id) == []


async def test_a_link_is_removed_unless_it_is_the_only_way_in(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    who = person()
    new = (await signed_in(api, settle, await ticket_of(api, server, code, who))).json()
    headers = {"Authorization": f"Bearer {new['accessToken']}"}
    me = (await api.get("/identity/me", headers=headers)).json()["account"]["id"]
    path = f"/identity/users/{me}/external-identities"
    link = (await api.get(path, headers=headers)).json()["items"][0]["id"]

    only = await api.delete(f"{path}/{link}", headers=headers)
    await api.post(
        f"/identity/users/{me}/password",
        json={"newPassword": accounts.PASSWORD},
        headers=headers,
    )
    removed = await api.delete(f"{path}/{link}", headers=headers)
    after = await signed_in(api, settle, await ticket_of(api, server, code, who))

    assert (only.status_code, only.json()["code"]) == (409, "identity-last-method")
    assert removed.status_code == 204
    assert (after.status_code, after.json()["code"]) == (409, "identity-link-required")
