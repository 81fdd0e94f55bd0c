"""Only the platform shares tenders and gives them an ocid, whatever a company says it is."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.domains.opportunity.tendering import NOW, TENDER, captured, published
from tests.factories import identity as people
from tests.factories.opportunity_board import working
from tests.planting import plant

from thenga.domains.opportunity.services import tenants
from thenga.kernel.process.host import Host


async def organ_of_state(host: Host) -> people.Member:
    """The owner of an organization that stated this type about itself."""
    owner = await people.member(host, uuid4(), role="owner")
    work = working(host, owner.organization_id)
    await tenants.TENANTS.know(work, organization_type="organ_of_state", sandbox=False)
    await work.finish()
    return owner


def ocid() -> str:
    return f"ocds-9t57fa-{uuid4().hex[:8]}"


async def attempts(api: httpx2.AsyncClient, who: people.Member) -> dict[str, Any]:
    """Every way to share a tender or to give it an ocid, and what became of it."""
    draft, private = await captured(api, who), await published(api, who)
    path, headers = f"/opportunities/{draft['id']}", who.headers
    version = {"If-Match": f'"{private["version"]}"'}
    live = f"/opportunities/{private['id']}"
    shared = {"visibility": "shared"}
    return {
        "capture with ocid": await api.post(
            "/opportunities", json=TENDER | {"ocid": ocid()}, headers=headers
        ),
        "capture shared": await api.post("/opportunities", json=TENDER | shared, headers=headers),
        "ocid of draft": await api.patch(path, json={"ocid": ocid()}, headers=headers),
        "ocid of live": await api.patch(live, json={"ocid": ocid()}, headers=headers | version),
        "share draft": await api.patch(path, json=shared, headers=headers),
        "share live": await api.patch(live, json=shared, headers=headers | version),
        "publish shared": await api.post(f"{path}/publish", json=shared, headers=headers),
    }


@pytest.mark.rule("OPP-16")
async def test_stated_organ_of_state_keeps_tenders_to_itself(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    clock.set(NOW)
    answers = await attempts(api, await organ_of_state(host))

    refused = {name: (one.status_code, one.json()["code"]) for name, one in answers.items()}
    assert refused == dict.fromkeys(answers, (403, "forbidden"))
    details = {one.json()["detail"] for one in answers.values()}
    assert details == {
        "Only the platform can share tenders with everyone.",
        "Only the platform can give a tender an ocid.",
    }


async def test_planted_trust_in_the_stated_type_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock.set(NOW)
    plant(monkeypatch, tenants, "may_share", lambda _: True)

    answers = await attempts(api, await organ_of_state(host))

    assert {one.status_code for one in answers.values()} <= {200, 201, 412}
    assert answers["publish shared"].json()["visibility"] == "shared"


@pytest.mark.rule("OPP-16")
async def test_operator_shares_a_tender_under_an_ocid_once(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    clock.set(NOW)
    staff, company = await people.staff(host, "platform_operator"), await organ_of_state(host)
    first = await published(api, staff, "shared", ocid=ocid(), tenderNumber=uuid4().hex)
    second = await captured(api, staff, tenderNumber=uuid4().hex)

    seen = await api.get(f"/opportunities/{first['id']}", headers=company.headers)
    taken = await api.patch(
        f"/opportunities/{second['id']}", json={"ocid": first["ocid"]}, headers=staff.headers
    )
    same = await api.patch(
        f"/opportunities/{first['id']}",
        json={"ocid": first["ocid"], "deliveryText": "Main Road 7"},
        headers=staff.headers | {"If-Match": f'"{first["version"]}"'},
    )

    assert (seen.status_code, seen.json()["ocid"]) == (200, first["ocid"])
    assert (taken.status_code, taken.json()["code"]) == (409, "duplicate")
    assert taken.json()["existing"] == {"id": first["id"]}
    assert same.status_code == 200, same.text
