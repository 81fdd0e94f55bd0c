"""Whoever is shown a secret holds its rights at that moment (SEC-59), over every route."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, get_args
from uuid import uuid4

import httpx2
import pytest
from pydantic import BaseModel

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga import topology
from thenga.domains.identity.api.api_keys import NewApiKeyView
from thenga.domains.identity.services import api_keys
from thenga.kernel.http.bodies import SHOWN_ONCE
from thenga.kernel.process.host import Host

HELD, NOT_HELD = "organization:equipment:read", "organization:equipment:create"
MAKING = ("identity:api_key:create", "identity:api_key:rotate")
BECAUSE = {"reason": "The import needs it"}


def shows_secrets(annotation: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether a model has a field that is shown once, however deep."""
    if annotation in seen:
        return False
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return any(shows_secrets(part, seen) for part in get_args(annotation))
    return any(
        SHOWN_ONCE in field.metadata or shows_secrets(field.annotation, seen | {annotation})
        for field in annotation.model_fields.values()
    )


def operations() -> Iterable[tuple[str, Any]]:
    for domain in topology.load(topology.DOMAINS):
        for router in domain.routers:
            for route in router.routes:
                for method in route.methods:  # type: ignore[attr-defined]
                    path = route.path  # type: ignore[attr-defined]
                    yield f"{method} {path}", route.response_model  # type: ignore[attr-defined]


async def clerk(api: httpx2.AsyncClient, host: Host) -> tuple[Member, Member]:
    """An owner, and a clerk who makes and rotates keys and holds one other permission."""
    owner = await people.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, owner.organization_id)
    member = await people.member(host, owner.organization_id, role="nothing_at_all")
    work = people.working(host, owner.organization_id)
    for code in (*MAKING, HELD):
        await people.permission(work, member, code, effect="allow")
    await work.finish()
    return owner, member


async def create(api: httpx2.AsyncClient, by: Member, scope: str) -> httpx2.Response:
    body = {"name": "Import", "scopes": [scope], **BECAUSE}
    return await api.post("/identity/api-keys", json=body, headers=by.acting)


async def rotate(api: httpx2.AsyncClient, by: Member, key: str) -> httpx2.Response:
    path = f"/identity/api-keys/{key}/rotate"
    return await api.post(path, json={"gracePeriodHours": 1, **BECAUSE}, headers=by.acting)


async def created(api: httpx2.AsyncClient, host: Host) -> tuple[int, int]:
    _, member = await clerk(api, host)
    within, beyond = [await create(api, member, code) for code in (HELD, NOT_HELD)]
    return within.status_code, beyond.status_code


async def rotated(api: httpx2.AsyncClient, host: Host) -> tuple[int, int]:
    owner, member = await clerk(api, host)
    keys = [(await create(api, owner, code)).json()["id"] for code in (HELD, NOT_HELD)]
    within, beyond = [await rotate(api, member, key) for key in keys]
    assert "plaintext" not in beyond.json()
    return within.status_code, beyond.status_code


# Secrets with rights of an organization: the statuses for a scope that is held, and one that is
# not.
Case = Callable[[httpx2.AsyncClient, Host], Awaitable[tuple[int, int]]]
CASES: dict[str, Case] = {
    "POST /identity/api-keys": created,
    "POST /identity/api-keys/{apiKeyId}/rotate": rotated,
}
# Secrets with the rights of the person who has just proved to be that person, and of nobody else:
# their own sessions and factors. Half sessions and forged proofs are refused by other suites.
ONES_OWN = {
    "POST /identity/auth/verify-address": "The link of the letter proves the address.",
    "POST /identity/auth/sign-in": "The password or the provider proves the person.",
    "POST /identity/auth/providers/{provider}/start": "Ends the flow that it begins, and no other.",
    "POST /identity/auth/refresh": "The refresh token is the session's own.",
    "POST /identity/mfa/factors": "A factor of one's own, with a fresh proof.",
    "POST /identity/mfa/challenges/{challengeId}/verify": "The factor proves the person.",
    "POST /identity/invitations/{invitationId}/accept": "A new person's own first session.",
    "POST /compliance/documents/{documentId}/download-links": (
        "Opens one document, and its maker's right to it is asked at each opening."
    ),
}


@pytest.mark.rule("SEC-59")
def test_every_answer_with_a_secret_has_its_case():
    showing = {name for name, model in operations() if shows_secrets(model)}

    print(f"operations_that_show_secrets={len(showing)} cases={len(CASES)}")
    assert showing == CASES.keys() | ONES_OWN.keys()


def test_a_planted_route_with_a_secret_is_found():
    class Planted(BaseModel):
        inside: list[NewApiKeyView] | None

    assert shows_secrets(Planted)
    assert not shows_secrets(httpx2.Response)


@pytest.mark.rule("SEC-59")
@pytest.mark.parametrize("operation", CASES)
async def test_a_secret_is_shown_to_whoever_holds_its_rights(
    operation: str, api: httpx2.AsyncClient, host: Host, seeded: None
):
    within, beyond = await CASES[operation](api, host)

    print(f"{operation}: within={within} beyond={beyond}")
    assert (within, beyond) == (201, 403)


async def test_a_planted_rotation_without_the_check_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def unchecked(*_: Any) -> None: ...

    monkeypatch.setattr(api_keys, "_check_own", unchecked)

    with pytest.raises(AssertionError):
        await rotated(api, host)
