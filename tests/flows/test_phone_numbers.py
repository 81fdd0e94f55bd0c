"""Phone numbers: what one domain takes, every domain takes, and keeps in the same form."""

from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity as people
from thenga.kernel.process.host import Host
from thenga.kernel.values import phones

pytestmark = pytest.mark.domains("identity", "organization")

TAKEN = {
    "082 123 4567": "+27821234567",
    "(011) 555-0100": "+27115550100",
    "+27 82 123 4567": "+27821234567",
    "0027 82 123 4567": "+27821234567",
    "+44 20 7946 0958": "+442079460958",
}
REFUSED = ("not a number", "+9991234567", "0821")

Heard = list[tuple[int, str]]


async def heard(
    api: httpx2.AsyncClient, owner: people.Member, number: str, *, contact: str
) -> Heard:
    """What Identity and Organization make of a number, each through its own API."""
    paths = (
        f"/identity/users/{owner.user_id}",
        f"/organizations/{owner.organization_id}/contacts/{contact}",
    )
    found: Heard = []
    for path in paths:
        answer = await api.patch(path, json={"phone": number}, headers=owner.headers)
        said = answer.json()
        found.append((answer.status_code, said["phone"] if answer.is_success else said["code"]))
    return found


async def contact_of(api: httpx2.AsyncClient, owner: people.Member) -> str:
    body = {"kind": "bids", "name": "Thandi Nkosi", "email": "thandi@mokoena.example"}
    path = f"/organizations/{owner.organization_id}/contacts"
    made = await api.post(path, json=body, headers=owner.headers)
    return str(made.json()["id"])


async def test_identity_and_organization_take_the_same_numbers(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    contact = await contact_of(api, owner)

    for number, kept in TAKEN.items():
        assert await heard(api, owner, number, contact=contact) == [(200, kept)] * 2, number
    for number in REFUSED:
        refused = await heard(api, owner, number, contact=contact)
        assert refused == [(422, "rule-violated")] * 2, number


async def test_a_planted_field_that_knows_no_home_country_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    owner = await people.member(host, uuid4(), role="owner")
    contact = await contact_of(api, owner)
    monkeypatch.setattr(phones, "_HOME", None)

    answers = await heard(api, owner, "082 123 4567", contact=contact)

    assert answers == [(422, "rule-violated")] * 2
