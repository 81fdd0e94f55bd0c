"""The end of a contract over HTTP: checklist, final account, closing and lessons."""

from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.contract.deals import PROOF, Deal, deal, zar
from tests.domains.contract.sites import occasions
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.kernel.process.host import Host

WAIVED = [
    {"code": "performance", "reason": "Short contract"},
    {"code": "lesson", "reason": "Short contract"},
]


async def manage(
    e: Deal, body: Any, *, who: Member | None = None, version: int | None = None
) -> httpx2.Response:
    path = f"/contracts/workspaces/{e.workspace_id}/closeout"
    headers = (who or e.owner).acting
    if version is not None:
        headers = headers | {"If-Match": f'"{version}"'}
    return await e.api.post(path, json=body, headers=headers)


def states(closeout: Any) -> dict[str, str]:
    return {one["code"]: one["state"] for one in closeout["items"]}


@pytest.mark.rule("CON-41")
@pytest.mark.rule("CON-42")
@pytest.mark.rule("CON-48")
async def test_a_contract_closes_with_an_agreed_account(done: Deal, host: Host) -> None:
    opened = await manage(done, {"items": WAIVED})
    first = opened.json()
    submitted = await manage(done, {"move": {"verb": "submit"}}, version=first["version"])
    other = await people.member(host, done.id, role="owner")
    own = await manage(
        done,
        {"move": {"verb": "complete", "reason": "Agreed", "confirmation": PROOF}},
        version=submitted.json()["version"],
    )
    unproven = await manage(
        done,
        {"move": {"verb": "complete", "reason": "Agreed"}},
        who=other,
        version=submitted.json()["version"],
    )
    completed = await manage(
        done,
        {"move": {"verb": "complete", "reason": "Agreed", "confirmation": PROOF}},
        who=other,
        version=submitted.json()["version"],
    )
    path = f"/contracts/workspaces/{done.workspace_id}"
    refused = await done.post(f"{path}/lessons", {"title": "Learned", "text": "Something"})

    account = completed.json()["finalAccount"]
    (closed,) = await done.told("ContractClosed")
    released = await occasions(host, done.id)
    print(
        f"agreed={account['agreed']['amount']} unclaimed={account['unclaimed']['amount']} "
        f"released={len(released)}"
    )
    assert released == ["release"]
    assert opened.status_code == 201
    assert {code for code, state in states(first).items() if state == "open"} == {"final_account"}
    assert submitted.status_code == 200, submitted.text
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (unproven.status_code, unproven.json()["code"]) == (
        422,
        "contract-confirmation-missing",
    )
    assert completed.status_code == 200, completed.text
    assert (account["agreed"], account["unclaimed"]) == (zar("4830000.00"), zar("0.00"))
    assert (await done.get(path))["status"] == "closed"
    assert (closed["outcome"], closed["finalValue"]) == ("completed", zar("4830000.00"))
    assert (refused.status_code, refused.json()["code"]) == (409, "contract-closed")


@pytest.mark.rule("CON-41")
async def test_a_reversed_payment_keeps_the_contract_open(done: Deal, host: Host) -> None:
    first = (await manage(done, {"items": WAIVED})).json()
    submitted = await manage(done, {"move": {"verb": "submit"}}, version=first["version"])
    payments = (await done.get("/contracts/payments"))["items"]
    reversed_ = await done.patch(
        f"/contracts/payments/{payments[0]['id']}",
        {"move": {"verb": "reverse", "reason": "Returned by the bank"}},
    )
    other = await people.member(host, done.id, role="owner")

    answer = await manage(
        done,
        {"move": {"verb": "complete", "reason": "Agreed", "confirmation": PROOF}},
        who=other,
        version=submitted.json()["version"],
    )

    assert reversed_.status_code == 200, reversed_.text
    assert (answer.status_code, answer.json()["code"]) == (409, "contract-closeout-open")
    assert answer.json()["items"] == ["invoices"]


@pytest.mark.rule("CON-42")
async def test_a_difference_is_named_and_must_be_adjusted(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock)

    first = (await manage(e, {})).json()
    even = await manage(
        e,
        {"adjustments": [{"text": "Not done", "amount": zar("-4830000.00")}]},
        version=first["version"],
    )
    early = await manage(e, {"move": {"verb": "submit"}}, version=even.json()["version"])

    assert first["finalAccount"]["unclaimed"] == zar("4830000.00")
    assert even.json()["finalAccount"]["unclaimed"] == zar("0.00")
    assert (early.status_code, early.json()["items"]) == (409, ["performance", "lesson"])


@pytest.mark.rule("CON-41")
async def test_only_some_items_can_be_not_applicable(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock)

    answer = await manage(e, {"items": [{"code": "invoices", "reason": "Forgotten"}]})

    assert answer.status_code == 422
    assert answer.json()["field"] == "/items/0/code"


@pytest.mark.rule("CON-43")
async def test_a_lesson_for_everybody_is_published_once(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
) -> None:
    e = await deal(api, host, clock)
    path = f"/contracts/workspaces/{e.workspace_id}/lessons"
    body = {"title": "Order pipes early", "text": "Eight weeks.", "tags": ["supply"]}
    hidden = await e.post(path, body)
    shown = await e.post(path, body | {"visibility": "organization", "publish": True})
    lesson = f"/contracts/lessons/{shown.json()['id']}"

    changed = await e.patch(lesson, {"title": "Other"})
    again = await e.patch(lesson, {"move": "publish"})
    listed = await e.get("/contracts/lessons")

    (told,) = await e.told("LessonPublished")
    assert hidden.status_code == 201
    assert shown.json()["status"] == "published"
    assert changed.status_code == 409
    assert again.status_code == 200
    assert [one["id"] for one in listed["items"]] == [shown.json()["id"]]
    assert told["tags"] == ["supply"]
    assert "text" not in told
