"""`View.shown`: fast where customers are served, and held to the schema in test builds."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.factories import identity as people
from tests.planting import plant
from thenga.domains.organization.services.assets import equipment
from thenga.kernel.http.bodies import Progress, View, WrongView
from thenga.kernel.http.document.naming import component
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import decimal


class Status(StrEnum):
    OPEN = "open"


class InsideView(View):
    first_name: str


class ThingView(View):
    id: UUID
    status: Literal["open", "closed"]
    count: int | None
    share: Annotated[Decimal, decimal(3, 2)]
    at: datetime
    inside: list[InsideView]


RIGHT: dict[str, Any] = {
    "id": uuid4(),
    "status": Status.OPEN,
    "count": 5,
    "share": Decimal("2.50"),
    "at": datetime(2026, 3, 1, tzinfo=UTC),
    "inside": [InsideView(first_name="Thandi")],
    "next_check_at": object(),  # what is not a field stays inside
}


@pytest.fixture
def checked() -> Iterator[None]:
    before, View.checked = View.checked, True
    yield
    View.checked = before


def test_values_of_the_right_types_are_shown(checked: None) -> None:
    assert ThingView.shown(dict(RIGHT)).status == "open"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "not an identifier"},
        {"status": "lost"},
        {"count": "5"},
        {"count": True},
        {"share": 2},
        {"at": 5},
        {"inside": None},
        {"inside": [{"first_name": "Thandi"}]},  # would go out as first_name
    ],
    ids=str,
)
def test_a_value_of_another_type_is_found(checked: None, wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongView):
        ThingView.shown(RIGHT | wrong)


def test_customers_do_not_pay_for_it() -> None:
    before, View.checked = View.checked, False
    try:
        assert ThingView.shown(RIGHT | {"count": "5"}).count == "5"
    finally:
        View.checked = before


async def test_a_planted_wrong_type_in_a_real_answer_is_found(
    app: FastAPI,
    host: Host,
    seeded: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = await people.member(host, uuid4(), role="owner")
    path = f"/v1/organizations/{owner.organization_id}/equipment"
    list_right = equipment.list_equipment

    async def miscounting(*args: Any, **named: Any) -> Any:
        page = await list_right(*args, **named)
        for row in page.items:
            row.quantity = "1"
        return page

    # Without the hooks of `api`, which hold every answer against the document.
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test") as client:
        machine = {"name": "Digger", "quantity": 1}
        made = await client.post(path, json=machine, headers=owner.headers)
        right = await client.get(path, headers=owner.headers)
        plant(monkeypatch, equipment, "list_equipment", miscounting)
        wrong = await client.get(path, headers=owner.headers)

    assert View.checked is app.state.shared.host.settings.test_build is True
    assert (made.status_code, right.status_code) == (201, 200)
    assert (wrong.status_code, wrong.json()["code"]) == (500, "internal-error")


def test_progress_is_written_as_every_long_work_tells_it() -> None:
    begun = Progress(done=0, total=None, note=None)
    going_on = Progress(done=3, total=12, note="Reads page 4")

    assert begun.model_dump(mode="json") == {"done": 0, "total": None, "note": None}
    assert going_on.model_dump(mode="json") == {"done": 3, "total": 12, "note": "Reads page 4"}
    assert component(Progress) == "Progress"
