"""The catalogue of permissions, and the remedy of a no."""

from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from thenga.domains.identity.services.roles.catalogue import roles_of
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.process.host import Host


async def listed(api: httpx2.AsyncClient, who: people.Person, query: str) -> list[str]:
    answer = await api.get(f"/identity/permissions{query}", headers=who.headers)
    assert answer.status_code == 200, answer.text
    return [one["code"] for one in answer.json()["items"]]


@pytest.mark.rule("IDN-23")
async def test_permission_catalogue_is_open_and_searchable(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host)

    words = await listed(api, somebody, "?q=EQUIPMENT&effect=read")
    domain = await listed(api, somebody, "?domain=organization&limit=200")
    grave = await listed(api, somebody, "?sensitivity=sensitive&domain=identity&limit=200")
    platform = await listed(api, somebody, "?audience=platform&limit=200")
    down = await listed(api, somebody, "?sort=-code&limit=3")

    assert domain == sorted(domain)
    assert all(code.startswith("organization:") for code in domain)
    assert "identity:membership:manage" in grave
    assert words == ["organization:equipment:read"]
    assert "identity:role_assignment:manage" in platform
    assert down == sorted(down, reverse=True)


@pytest.mark.rule("IDN-24")
def test_what_owners_alone_hold_no_administrator_holds():
    plain = Granted("a:b:c", "Plain", (Audience.TENANT,), ("viewer",))
    closing = Granted("a:b:close", "Close", (Audience.TENANT,), owner_only=True)

    assert roles_of(plain) == ["owner", "administrator", "viewer"]
    assert roles_of(closing) == ["owner"]


@pytest.mark.rule("IDN-29")
async def test_refusal_names_the_roles_that_would_help(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    viewer = await people.member(host, uuid4(), role="viewer")
    asked = {
        "actor": {"type": "user", "id": str(viewer.user_id)},
        "tenant": {"type": "organization", "id": str(viewer.organization_id)},
        "action": {"name": "identity:invitation:create"},
        "resource": {"type": "invitation"},
        "context": {"requestId": "a-question", "channel": "http"},
    }

    told = (await api.post("/identity/authorize", json=asked, headers=viewer.headers)).json()
    route = await api.post("/identity/invitations", json={}, headers=viewer.acting)

    print(f"decision={told['decision']} reason={told['reasonCode']} remedy={told['remedy']}")
    assert (told["decision"], told["reasonCode"]) == ("deny", "permission_missing")
    assert told["remedy"] == {"kind": "ask_role", "roles": ["owner", "administrator"]}
    assert (route.status_code, route.json()["remedy"]) == (403, told["remedy"])
    assert route.json()["decisionId"] != told["decisionId"]
