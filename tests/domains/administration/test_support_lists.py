"""Lists and limits of support cases, and what another customer sees of them: nothing."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import identity
from tests.factories import support as cases
from tests.factories.identity import Member, Person
from tests.factories.support import PATH
from tests.planting import plant
from thenga.domains.administration.services.support import sides
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host


@pytest.fixture
async def customer(host: Host, seeded: None) -> Member:
    return await identity.member(host, uuid4(), role="owner")


@pytest.fixture
async def staff(host: Host, seeded: None) -> Person:
    return await cases.agent(host)


async def _foreign(
    api: httpx2.AsyncClient, host: Host, customer: Member
) -> tuple[list[httpx2.Response], list[httpx2.Response]]:
    """What another customer gets for this one's case, and for a case that does not exist."""
    other = await identity.member(host, uuid4(), role="owner")
    made = await cases.opened(api, customer)
    found = []
    for case_id in (made["id"], str(uuid4())):
        case = f"{PATH}/{case_id}"
        message = {"body": "We read this."}
        subject = {"subject": "Not ours to change"}
        predecessor = {
            "subject": "Continues another",
            "description": "A case of somebody else.",
            "category": "other",
            "predecessorCaseId": case_id,
        }
        found.append(
            [
                await api.get(case, headers=other.acting),
                await api.get(f"{case}/messages", headers=other.acting),
                await api.post(f"{case}/messages", json=message, headers=other.acting),
                await api.patch(case, json=subject, headers=other.acting),
                await api.post(PATH, json=predecessor, headers=other.acting),
                await api.get(
                    f"{PATH}?organizationId={customer.organization_id}", headers=other.acting
                ),
            ]
        )
    return found[0], found[1]


def _told(answer: httpx2.Response) -> dict[str, Any]:
    """A problem without what names the request."""
    return {n: v for n, v in answer.json().items() if n not in ("instance", "requestId")}


async def test_another_customers_case_is_not_there(
    api: httpx2.AsyncClient, host: Host, customer: Member
) -> None:
    foreign, missing = await _foreign(api, host, customer)

    readable = [one for one in foreign if one.status_code != 404]
    print(f"calls={len(foreign)} readable={len(readable)}")
    assert readable == []
    assert [_told(one) for one in foreign] == [_told(one) for one in missing]


async def test_a_planted_foreign_case_that_is_readable_is_found(
    api: httpx2.AsyncClient, host: Host, customer: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def as_operator(read: Reader, case_id: UUID) -> None:
        await read.switch_scope(organization_id=OPERATOR)

    plant(monkeypatch, sides, "enter_case", as_operator)

    foreign, _ = await _foreign(api, host, customer)

    assert [one.status_code for one in foreign if one.status_code != 404] != []


async def test_twenty_open_cases_are_enough(
    api: httpx2.AsyncClient, host: Host, customer: Member
) -> None:
    for number in range(20):
        await cases.case(host, uuid4(), customer.organization_id, subject=f"Case {number}")

    body = {"subject": "One more", "description": "Nothing else works.", "category": "other"}
    refused = await api.post(PATH, json=body, headers=customer.acting)

    assert (refused.status_code, refused.json()["code"]) == (409, "administration-too-many-cases")


async def test_a_person_opens_ten_cases_a_day_and_more_for_security(
    api: httpx2.AsyncClient, host: Host, customer: Member
) -> None:
    for _ in range(10):
        await cases.case(host, customer.user_id, customer.organization_id)

    body = {"subject": "One more", "description": "Nothing else works.", "category": "other"}
    refused = await api.post(PATH, json=body, headers=customer.acting)
    secure = await api.post(PATH, json=body | {"category": "security"}, headers=customer.acting)

    assert (refused.status_code, refused.json()["code"]) == (429, "rate-limited")
    assert int(refused.headers["retry-after"]) > 0
    assert secure.status_code == 201


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 3),
        ("status=new", 2),
        ("priority=high", 2),
        ("category=billing", 1),
        ("slaState=running", 2),
        ("slaState=met", 1),
        ("slaState=breached", 0),
        ("q=INVOICE", 1),
        ("dueBefore=2000-01-01T00:00:00Z", 0),
        ("linkedId=019a0000-0000-7000-8000-000000000001", 1),
    ],
)
async def test_lists_are_filtered(
    api: httpx2.AsyncClient, customer: Member, staff: Person, query: str, number: int
) -> None:
    link = {"domain": "billing", "type": "invoice", "id": "019a0000-0000-7000-8000-000000000001"}
    await cases.opened(api, customer)
    await cases.opened(
        api, customer, category="billing", subject="Where is my invoice", impact="one_person",
        links=[link],
    )  # fmt: skip
    third = await cases.opened(api, customer)
    await cases.resolved(api, staff, third["id"], "spam")

    mine = await api.get(f"{PATH}?{query}", headers=customer.acting)
    theirs = await api.get(
        f"{PATH}?organizationId={customer.organization_id}&{query}", headers=staff.headers
    )

    ids = [[one["id"] for one in answer.json()["items"]] for answer in (mine, theirs)]
    assert len(ids[0]) == number
    assert ids[0] == ids[1]


@pytest.mark.parametrize("sort", ["createdAt", "-dueAt", "priority", "-priority"])
async def test_pages_show_every_case_once_in_order(
    api: httpx2.AsyncClient, customer: Member, sort: str
) -> None:
    for impact in ("one_person", "organization", "team", "many_organizations"):
        await cases.opened(api, customer, impact=impact)

    seen: list[dict[str, Any]] = []
    target: str | None = f"{PATH}?limit=2&sort={sort}"
    while target is not None:
        answer = (await api.get(target, headers=customer.acting)).json()
        seen += answer["items"]
        cursor = answer["nextCursor"]
        target = cursor and f"{PATH}?limit=2&sort={sort}&cursor={cursor}"

    order: dict[str, Callable[[dict[str, Any]], Any]] = {
        "createdAt": lambda one: one["createdAt"],
        "dueAt": lambda one: one["dueAt"],
        "priority": lambda one: ["low", "normal", "high", "urgent"].index(one["priority"]),
    }
    values = [order[sort.removeprefix("-")](one) for one in seen]
    assert len({one["id"] for one in seen}) == len(seen) == 4
    assert values == sorted(values, reverse=sort.startswith("-"))
