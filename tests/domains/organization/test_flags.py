"""What is declared and found of directors stands side by side, and counts while it is fresh."""

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.organization.directing import added, listed
from tests.factories import identity as people
from thenga.domains.organization.services.people import flags
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


@pytest.mark.rule("ORG-13")
async def test_what_is_declared_and_found_stands_side_by_side(
    api: httpx2.AsyncClient, owner: people.Member, curator: people.Person
):
    one = await added(api, owner)

    async def state(who: people.Person, value: str, **more: Any) -> httpx2.Response:
        body = {"flagStatement": {"flag": "publicServant", "value": value} | more}
        return await api.patch(one, json=body, headers=who.headers)

    bare = await state(owner, "yes")
    unsure = await state(owner, "possible")
    denied = await state(owner, "no")
    found = await state(curator, "possible", source={"register": "csd_report"})
    particulars = {"institution": "Emfuleni", "employeeNumber": "PERSAL-99887766"}
    admitted = await state(owner, "yes", particulars=particulars)

    assert [a.json()["code"] for a in (bare, unsure)] == ["rule-violated"] * 2
    effective = [a.json()["flags"]["publicServant"]["effective"] for a in (denied, found, admitted)]
    assert effective == ["no", "possible", "yes"]
    statements = admitted.json()["flags"]["publicServant"]["statements"]
    assert [s["kind"] for s in statements] == ["customer_supplied", "verified", "customer_supplied"]
    assert statements[2]["particulars"]["institution"] == "Emfuleni"
    assert statements[2]["particulars"]["employeeNumberMasked"].endswith("7766")
    assert "PERSAL-99" not in admitted.text
    assert len(await listed(api, owner, "?flag=publicServant")) == 1
    assert await listed(api, owner, "?flag=restricted") == []


TODAY = date(2026, 7, 1)


def said(value: str, kind: str, days_ago: int, until_in: int | None = None) -> flags.Statement:
    return flags.Statement(
        director_id=uuid4(),
        flag="restricted",
        value=value,
        kind=kind,  # type: ignore[arg-type]
        as_of=TODAY - timedelta(days=days_ago),
        until=None if until_in is None else TODAY + timedelta(days=until_in),
        source=None,
        particulars=None,
    )


DECLARED, FOUND = "customer_supplied", "verified"


@pytest.mark.rule("ORG-13")
@pytest.mark.parametrize(
    ("statements", "effective"),
    [
        ([], "unknown"),
        ([said("no", DECLARED, 30)], "no"),
        ([said("no", DECLARED, 190)], "unknown"),
        ([said("no", FOUND, 90)], "no"),
        ([said("no", FOUND, 91)], "unknown"),
        ([said("yes", DECLARED, 400)], "yes"),
        ([said("yes", FOUND, 10, -1)], "unknown"),
        ([said("yes", FOUND, 10, 0)], "yes"),
        ([said("no", DECLARED, 5), said("possible", FOUND, 3)], "possible"),
        ([said("possible", FOUND, 9), said("no", FOUND, 3)], "no"),
        ([said("no", FOUND, 3), said("yes", DECLARED, 1)], "yes"),
    ],
)
def test_a_flag_is_no_only_while_somebody_lately_said_so(
    statements: list[flags.Statement], effective: str
):
    assert flags.effective_flags(statements, TODAY) == effective
