"""What tests of identity providers share: the way there and back, and the sign-in after it."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID, uuid4

import httpx2

from tests.factories import identity as people
from tests.factories.providers import RETURN_TO
from tests.providers.openid import OpenIdServer
from tests.settling import Settle
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.tables import ExternalIdentity
from thenga.kernel.process.host import Host


def person(**more: Any) -> dict[str, Any]:
    """Somebody at the provider, with an address that it has verified."""
    address = f"naledi.{uuid4().hex[:12]}@example.test"
    return {"sub": uuid4().hex, "email": address, "email_verified": True, "name": "Naledi"} | more


async def start(
    api: httpx2.AsyncClient, code: str, headers: dict[str, str] | None = None, **more: str
) -> httpx2.Response:
    return await api.post(
        f"/identity/auth/providers/{code}/start",
        json={"returnTo": RETURN_TO} | more,
        headers=headers or {},
    )


async def come_back(api: httpx2.AsyncClient, code: str, brought: dict[str, str]) -> dict[str, str]:
    """What is added to the page that the browser returns to."""
    answer = await api.get(f"/identity/auth/providers/{code}/callback", params=brought)
    assert (answer.status_code, answer.content) == (303, b"")
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


async def ticket_of(
    api: httpx2.AsyncClient,
    server: OpenIdServer,
    code: str,
    who: dict[str, Any],
    headers: dict[str, str] | None = None,
) -> dict[str, str]:
    """The body that signs in, after the person agreed at the provider."""
    begun = await start(api, code, headers)
    assert begun.status_code == 201, begun.text
    back = await come_back(api, code, server.authorize(begun.json()["authorizationUrl"], **who))
    secret = begun.json()["flowSecret"]
    return {"method": "provider", "ticket": back["ticket"], "flowSecret": secret}


async def signed_in(
    api: httpx2.AsyncClient, settle: Settle, body: dict[str, str]
) -> httpx2.Response:
    """The answer to the sign-in, once the provider was asked."""

    async def look() -> httpx2.Response | None:
        answer = await api.post("/identity/auth/sign-in", json=body)
        pending = answer.json().get("code") == "identity-provider-pending"
        return None if pending else answer

    return await settle(look)


async def linked_to(host: Host, user_id: UUID) -> list[ExternalIdentity]:
    work = people.working(host, user_id=user_id)
    try:
        found = await work.find(ExternalIdentity)
        return [] if found is None else [found]
    finally:
        await work.close()


async def has_account(host: Host, email: str) -> bool:
    work = people.working(host)
    try:
        return await find_name(work, account_key(host, email)) is not None
    finally:
        await work.close()
