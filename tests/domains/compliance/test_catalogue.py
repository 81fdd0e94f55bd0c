"""The catalogue: law is dated, staff write it ahead of time, and tenders loosen nothing locked."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_documents import Office
from tests.factories.identity import Person
from tests.planting import plant
from thenga.domains.compliance.jobs.requirements import publish_entry
from thenga.domains.compliance.services.requirements import catalogue, publishing, requirements
from thenga.domains.compliance.tables import TrackedTender
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

REQUIREMENTS = "/compliance/requirements"


NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)


@pytest.fixture
async def firm(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Office:
    clock.set(NOW)
    return Office(api, host, clock)


@pytest.fixture
async def operator(host: Host, firm: Office) -> Person:
    return await people.staff(host, "platform_operator")


def row(code: str, starts: date, **more: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "kind": "definition",
        "code": code,
        "title": "Registration of the trade",
        "component": "sector",
        "weight": 3,
        "gate": "soft",
        "appliesWhen": {"fact": "employeeCount", "gt": 5},
        "proof": {"documentTypes": ["sector_licence"]},
        "validity": {"kind": "after_issue", "months": 12},
        "effectiveFrom": starts.isoformat(),
        "source": {"key": "TEST", "mark": "unconfirmed"},
    }
    return known | more


async def publish(firm: Office, who: Person, entry: dict[str, Any]) -> httpx2.Response:
    body = {"scope": "platform", "catalogue": entry, "reason": "The law changes on that day."}
    return await firm.api.post(REQUIREMENTS, json=body, headers=who.headers)


async def copy(host: Host, entry_id: str) -> None:
    """What the worker does with the row: the job runs as the system login."""
    scope, origin = Scope(actor=SYSTEM), Origin("test", "test", "test")
    work = Work(host, "compliance", scope, origin, login="compliance_system")
    try:
        await publish_entry.body(work, entry_id=UUID(entry_id))
        await work.finish()
    finally:
        await work.close()


async def in_force(firm: Office, who: Person, code: str, on: date) -> list[Any]:
    query = {"scope": "catalogue", "at": on.isoformat(), "limit": "200"}
    answer = await firm.api.get(REQUIREMENTS, params=query, headers=who.headers)
    assert answer.status_code == 200, answer.text
    return [one for one in answer.json()["items"] if one["definitionCode"] == code]


async def weights_around(host: Host, firm: Office, operator: Person) -> list[list[int]]:
    """The weight of a definition on the day before its row of 1 March 2027, and on that day."""
    code, march = f"trade_{uuid4().hex[:8]}", date(2027, 3, 1)
    for starts, weight in ((date(2026, 12, 1), 3), (march, 7)):
        made = await publish(firm, operator, row(code, starts, weight=weight))
        assert made.status_code == 201, made.text
        await copy(host, made.json()["id"])
    again = await publish(firm, operator, row(code, march, weight=7))
    shown = await firm.api.get(made.headers["location"][3:], headers=operator.headers)
    days = (date(2026, 11, 30), date(2027, 2, 28), march)
    rows = [await in_force(firm, operator, code, day) for day in days]
    found = [[one["weight"] for one in of_day] for of_day in rows]
    versions = [one["row"]["catalogueVersion"] for of_day in rows for one in of_day]
    print(f"catalogue_rows={found} versions={versions}")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert shown.json()["affectedOrganizations"] is not None
    assert versions == sorted(versions)
    return found


@pytest.mark.rule("CMP-3")
async def test_a_dated_row_counts_from_its_day(host: Host, firm: Office, operator: Person) -> None:
    assert await weights_around(host, firm, operator) == [[], [3], [7]]


async def test_a_planted_law_that_counts_before_its_day_is_found(
    host: Host, firm: Office, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = catalogue.in_force
    plant(monkeypatch, catalogue, "in_force", lambda of, day: right(of, day + timedelta(days=1)))

    assert await weights_around(host, firm, operator) == [[3], [7], [7]]


async def written_for(host: Host, firm: Office, operator: Person, days: int) -> tuple[int, Any]:
    """How a row is answered that is to count so many days from now."""
    day = local_day(host.now()) + timedelta(days=days)
    made = await publish(firm, operator, row(f"trade_{uuid4().hex[:8]}", day))
    return made.status_code, made.json().get("rule")


@pytest.mark.rule("CMP-3")
async def test_no_law_is_written_for_a_day_that_has_begun(
    host: Host, firm: Office, operator: Person
) -> None:
    assert await written_for(host, firm, operator, 0) == (422, "effective-from-tomorrow")
    assert await written_for(host, firm, operator, 1) == (201, None)


async def test_a_planted_law_of_today_is_found(
    host: Host, firm: Office, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    yesterday = local_day(host.now()) - timedelta(days=1)
    monkeypatch.setattr(publishing, "local_day", lambda *_: yesterday)

    assert await written_for(host, firm, operator, 0) == (201, None)


@pytest.mark.rule("CMP-4")
@pytest.mark.parametrize(
    "condition",
    [
        {"fact": "employeeCount"},
        {"all": []},
        {"fact": "employeeCount", "gt": "5"},
        {"tender": "colour", "is": "red"},
        {"not": {"not": {"not": {"not": {"answer": "x", "is": True}}}}},
    ],
)
async def test_a_condition_outside_the_grammar_is_refused(
    host: Host, firm: Office, operator: Person, condition: dict[str, Any]
) -> None:
    tomorrow = local_day(host.now()) + timedelta(days=1)

    refused = await publish(firm, operator, row("trade_x", tomorrow, appliesWhen=condition))

    assert (refused.status_code, refused.json()["code"]) == (422, "compliance-condition-invalid")


async def test_only_staff_with_a_fresh_proof_write_the_catalogue(
    host: Host, firm: Office, operator: Person, clock: Time
) -> None:
    officer = await firm.member()
    tomorrow = local_day(host.now()) + timedelta(days=1)
    body = {"scope": "platform", "catalogue": row("trade_y", tomorrow), "reason": "A new law."}

    customer = await firm.api.post(REQUIREMENTS, json=body, headers=officer.acting)
    clock.set(NOW + timedelta(minutes=6))
    late = await publish(firm, operator, row("trade_y", tomorrow))

    assert customer.status_code == 404
    assert (late.status_code, late.json()["code"]) == (403, "step-up-required")


async def tracked(firm: Office) -> str:
    """A tender that the company watches."""
    work = firm.work()
    tender = TrackedTender(
        organization_id=firm.organization_id,
        tender_opportunity_id=uuid4(),
        interest="matched",
        terms=[],
    )
    await work.add(tender)
    await work.finish()
    return str(tender.tender_opportunity_id)


async def asked_by(firm: Office, tender_id: str, code: str, **more: Any) -> httpx2.Response:
    """A tender asks for a requirement of the catalogue in its own way."""
    officer = await firm.member()
    body = {
        "organizationId": str(firm.organization_id),
        "origin": "tender",
        "tenderOpportunityId": tender_id,
        "definitionCode": code,
    }
    return await firm.api.post(REQUIREMENTS, json=body | more, headers=officer.acting)


async def loosened(firm: Office) -> tuple[int, str | None]:
    """How a tender is answered for which tax compliance is only a wish."""
    answer = await asked_by(firm, await tracked(firm), "tax_compliance", gate="soft")
    return answer.status_code, answer.json().get("rule")


@pytest.mark.rule("CMP-5")
async def test_a_tender_never_loosens_what_is_locked(firm: Office) -> None:
    assert await loosened(firm) == (422, "locked-requirement")


async def test_a_planted_lock_that_opens_is_found(
    firm: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, requirements, "loosened", lambda **_: None)

    assert await loosened(firm) == (201, None)


@pytest.mark.rule("CMP-5")
async def test_a_tender_overrides_what_is_not_locked(firm: Office) -> None:
    tender_id = await tracked(firm)

    stricter = await asked_by(
        firm, tender_id, "bank_confirmation", gate="hard", params={"maxAgeDays": 30}
    )
    again = await asked_by(firm, tender_id, "bank_confirmation")
    unknown = await asked_by(firm, str(uuid4()), "bank_confirmation")

    assert stricter.status_code == 201, stricter.text
    assert (stricter.json()["gate"], stricter.json()["params"]) == ("hard", {"maxAgeDays": 30})
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "compliance-tender-unknown")


async def test_a_catalogue_row_is_only_assigned(
    firm: Office,
) -> None:
    officer = await firm.member()
    body = {"organizationId": str(firm.organization_id), "title": "A visit to the site"}
    own = (await firm.api.post(REQUIREMENTS, json=body, headers=officer.acting)).json()
    of_catalogue = await firm.requirement("bank_confirmation")

    async def patch(requirement_id: Any, **fields: Any) -> httpx2.Response:
        headers = officer.acting | {"If-Match": '"1"'}
        path = f"{REQUIREMENTS}/{requirement_id}"
        return await firm.api.patch(path, json=fields, headers=headers)

    changed = await patch(own["id"], title="A visit with the buyer", weight=4)
    refused = await patch(of_catalogue, gate="hard")
    assigned = await patch(of_catalogue, ownerUserId=str(officer.user_id), dueOn="2031-03-01")

    assert (changed.json()["title"], changed.json()["weight"]) == ("A visit with the buyer", 4)
    assert (refused.status_code, refused.json()["rule"]) == (422, "catalogue-decides")
    assert assigned.json()["ownerUserId"] == str(officer.user_id)
    assert assigned.json()["title"] == "Bank confirmation letter"
    listed = await firm.api.get(
        REQUIREMENTS,
        params={"organizationId": str(firm.organization_id), "sort": "dueOn", "limit": "1"},
        headers=officer.acting,
    )
    assert [one["id"] for one in listed.json()["items"]] == [str(of_catalogue)]
    assert listed.json()["nextCursor"] is not None
