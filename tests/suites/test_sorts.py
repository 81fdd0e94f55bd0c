"""Every list answers in every order that it offers, also on its second page."""

from collections.abc import Iterator, Sequence
from typing import Any

import httpx2
import pytest

from tests.documented import whole_document
from tests.factories import identity, organization
from tests.suites import calls
from tests.suites.rotation import within_domain
from thenga import topology
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.process.host import Host

OPERATIONS = operations(topology.load(topology.DOMAINS))


def orders_of(operation: dict[str, Any]) -> list[str]:
    """The values that a list takes for `sort`."""
    for parameter in operation.get("parameters", ()):
        if parameter.get("name") == "sort":
            return list(parameter["schema"].get("enum", ()))
    return []


def listed(asked: Sequence[Operation]) -> Iterator[tuple[Operation, list[str]]]:
    """The lists among operations, with their orders."""
    by_id = {
        one["operationId"]: one
        for methods in whole_document()["paths"].values()
        for one in methods.values()
    }
    for operation in asked:
        if orders := orders_of(by_id[operation.id]):
            yield operation, orders


@pytest.fixture
async def owner(host: Host, seeded: None) -> identity.Member:
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id, mode="sandbox")
    return await identity.member(host, company.id, role="owner", who=who, sandbox=True)


async def refused(
    api: httpx2.AsyncClient, host: Host, owner: identity.Member, one: Operation, orders: list[str]
) -> list[str]:
    """The orders in which a list does not answer, or whose next page fails."""
    sent = await calls.MAKERS[one.name](host, owner, owner.organization_id)
    headers = owner.headers | sent.headers
    path = calls.path_of(one, sent.ids, sent.parts).removeprefix("/v1")
    found = []
    for order in orders:
        joined = f"{path}{'&' if '?' in path else '?'}sort={order}&limit=1"
        answer = await api.get(joined, headers=headers)
        if answer.status_code == 200 and (cursor := answer.json().get("nextCursor")):
            answer = await api.get(f"{joined}&cursor={cursor}", headers=headers)
        if answer.status_code != 200:
            found.append(f"{one.name} sort={order}: {answer.status_code} {answer.text[:200]}")
    return found


async def test_every_list_answers_in_every_order_it_offers(
    api: httpx2.AsyncClient, host: Host, owner: identity.Member
) -> None:
    lists = list(listed(within_domain(OPERATIONS)))
    failed = [
        fault for one, orders in lists for fault in await refused(api, host, owner, one, orders)
    ]

    print(f"lists={len(lists)} orders={sum(len(o) for _, o in lists)} failed={len(failed)}")
    assert failed == []


async def test_a_planted_order_that_no_list_has_is_found(
    api: httpx2.AsyncClient, host: Host, owner: identity.Member
) -> None:
    one, orders = next(listed(OPERATIONS))

    assert await refused(api, host, owner, one, [*orders, "planted"])
