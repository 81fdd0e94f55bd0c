"""Sign-in by a provider of OpenID Connect on loopback that signs for itself (IDN-16)."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.domains.identity.elsewhere import (
    come_back,
    has_account,
    linked_to,
    person,
    signed_in,
    start,
    ticket_of,
)
from tests.factories import accounts, providers
from tests.factories.settings import publish_change
from tests.planting import plant
from tests.providers.openid import OpenIdServer
from tests.settling import Settle
from thenga.domains.administration import public as administration
from thenga.domains.administration.provider import LocalIntegrations
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.services.providers import signing_in
from thenga.domains.identity.tables import ExternalIdentity, IdentityProvider, UserStatus
from thenga.kernel.db.work import Work
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.settles("identity")


@pytest.mark.rule("IDN-16")
async def test_a_new_person_registers_and_later_signs_in_again(
    api: httpx2.AsyncClient, settle: Settle, server: OpenIdServer, code: str
):
    who = person()

    first = await signed_in(api, settle, await ticket_of(api, server, code, who))
    again = await signed_in(api, settle, await ticket_of(api, server, code, who))

    assert (first.status_code, again.status_code) == (200, 200), first.text
    headers = {"Authorization": f"Bearer {first.json()['accessToken']}"}
    me = (await api.get("/identity/me", headers=headers)).json()
    assert (me["account"]["email"], me["account"]["displayName"]) == (who["email"], "Naledi")
    assert first.json()["session"]["methods"] == again.json()["session"]["methods"] == ["provider"]
    listed = await api.get(
        f"/identity/users/{me['account']['id']}/external-identities", headers=headers
    )
    (link,) = listed.json()["items"]
    assert (link["provider"], link["maskedEmail"]) == (code, "n***@example.test")


async def test_a_ticket_waits_for_the_provider(
    api: httpx2.AsyncClient, server: OpenIdServer, code: str
):
    body = await ticket_of(api, server, code, person())

    answer = await api.post("/identity/auth/sign-in", json=body)

    assert (answer.status_code, answer.json()["code"]) == (409, "identity-provider-pending")


async def _with_the_address_of_an_account(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
) -> tuple[httpx2.Response, list[ExternalIdentity]]:
    known = await accounts.account(host)
    body = await ticket_of(api, server, code, person(email=known.email))
    return await signed_in(api, settle, body), await linked_to(host, known.user_id)


@pytest.mark.rule("IDN-16")
async def test_nobody_is_linked_by_an_address(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    answer, links = await _with_the_address_of_an_account(api, host, settle, server, code)

    assert (answer.status_code, answer.json()["code"]) == (409, "identity-link-required")
    assert links == []


async def test_planted_link_by_address_is_seen(
    api: httpx2.AsyncClient,
    host: Host,
    settle: Settle,
    server: OpenIdServer,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
):
    async def by_address(work: Work, provider: IdentityProvider, who: Any) -> UUID:
        name = await find_name(work, account_key(work.host, who.email))
        assert name is not None
        await work.become(name.user_id)
        await signing_in.links.link(work, name.user_id, provider, who)
        return name.user_id

    plant(monkeypatch, signing_in, "_register", by_address)

    answer, links = await _with_the_address_of_an_account(api, host, settle, server, code)

    assert answer.status_code == 200 and len(links) == 1


@pytest.mark.parametrize(
    ("trusts_email", "verified"), [(False, True), (True, False)], ids=["untrusted", "unverified"]
)
async def test_only_a_trusted_and_verified_address_registers(
    api: httpx2.AsyncClient,
    host: Host,
    settle: Settle,
    server: OpenIdServer,
    seeded: None,
    trusts_email: bool,
    verified: bool,
):
    code = await providers.provider(host, server.issuer, trusts_email=trusts_email)
    who = person(email_verified=verified)

    answer = await signed_in(api, settle, await ticket_of(api, server, code, who))

    assert (answer.status_code, answer.json()["code"]) == (409, "identity-link-required")
    assert not await has_account(host, who["email"])


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/signed-in",
        "https://app.thenga.example.evil.example/",
        "https://app.thenga.example@evil.example/",
        "http://app.thenga.example/",
        "https://app.thenga.example:8443/",
        "https://app.thenga.example\\@evil.example/",
    ],
)
async def test_a_browser_returns_to_our_own_pages_only(
    api: httpx2.AsyncClient, code: str, address: str
):
    answer = await start(api, code, returnTo=address)

    assert (answer.status_code, answer.json()["code"]) == (422, "rule-violated")


async def test_an_unknown_provider_is_not_found(api: httpx2.AsyncClient, seeded: None):
    answer = await start(api, "nobody-knows-it")

    assert (answer.status_code, answer.json()["code"]) == (404, "identity-provider-unknown")


async def test_a_second_factor_is_asked_for_as_after_a_password(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    someone, who = await accounts.account(host), person()
    await providers.linked(host, code, someone.user_id, who["sub"])
    factor, shown = await accounts.totp(host, someone)

    half = (await signed_in(api, settle, await ticket_of(api, server, code, who))).json()
    headers = {"Authorization": f"Bearer {half['pendingToken']}"}
    asked = {"purpose": "sign_in", "factorId": str(factor.id), "kind": "totp"}
    challenge = await api.post("/identity/mfa/challenges", json=asked, headers=headers)
    path = f"/identity/mfa/challenges/{challenge.json()['id']}/verify"
    whole = await api.post(path, json={"code": shown}, headers=headers)

    assert half["outcome"] == "mfa_required"
    assert whole.json()["session"]["methods"] == ["provider", "totp"]
    assert whole.json()["session"]["assurance"] == "aal2"


async def test_a_disabled_or_locked_account_is_refused(
    api: httpx2.AsyncClient, host: Host, settle: Settle, server: OpenIdServer, code: str
):
    disabled, locked = await accounts.account(host, status=UserStatus.DISABLED), None
    locked = await accounts.account(host)
    for _ in range(10):
        wrong = locked.signing_in | {"password": "not the password at all"}
        await api.post("/identity/auth/sign-in", json=wrong)

    answers = []
    for someone in (disabled, locked):
        who = person()
        await providers.linked(host, code, someone.user_id, who["sub"])
        answers.append(await signed_in(api, settle, await ticket_of(api, server, code, who)))

    assert [one.status_code for one in answers] == [401, 401]


class _SameClock:
    """The clock of another host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def now(self) -> datetime:
        return self._host.clock.now()


async def test_an_integration_becomes_a_provider_until_it_is_paused(
    api: httpx2.AsyncClient, host: Host, seeded: None, server: OpenIdServer
):
    made = providers.integration(host, server.issuer)
    working = replace(host, bindings=Bindings(), clock=_SameClock(host))
    working.bindings.bind(administration.Integrations, LocalIntegrations(host))
    code = made.name.casefold().replace(" ", "-")

    async def told(status: str) -> None:
        await providers.stored(host, made, status)
        event = administration.IntegrationConfigurationChanged.model_validate(
            {
                "integration_id": made.id,
                "kind": made.kind,
                "target_domain": "identity",
                "environment": "live",
                "status": status,
                "settings_version": 1,
                "secrets": [],
            }
        )
        await publish_change(host, event)

    async with Settle(working, ("identity", "administration")) as settle:
        await told("active")
        begun = await settle(lambda: _answers(api, code, 201))
        who = server.authorize(begun.json()["authorizationUrl"], **person())
        back = await come_back(api, code, who)
        secret = begun.json()["flowSecret"]
        body = {"method": "provider", "ticket": back["ticket"], "flowSecret": secret}
        answer = await signed_in(api, settle, body)
        await told("paused")
        await settle(lambda: _answers(api, code, 404))

    assert answer.status_code == 200


async def _answers(api: httpx2.AsyncClient, code: str, status: int) -> httpx2.Response | None:
    answer = await start(api, code)
    return answer if answer.status_code == status else None
