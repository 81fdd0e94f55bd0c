"""Readiness, requirements and risks name no document that the caller may not read."""

from datetime import UTC, date, datetime
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import compliance_filed
from tests.factories import compliance_treated as treated
from tests.factories import identity as people
from tests.factories.compliance_documents import Office
from tests.factories.compliance_filed import Filed
from tests.factories.identity import Member
from tests.factories.notification_requests import with_ports
from tests.planting import plant
from thenga.domains.compliance import public
from thenga.domains.compliance.provider import LocalReadiness
from thenga.domains.compliance.services.documents import SIGHT_OF_ALL, classes
from thenga.domains.compliance.services.documents.classes import Sight
from thenga.kernel.process.host import Host

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
LAST_DAY, DAY_AFTER = "2028-02-29", "2028-03-01"
TYPES = {"confidential": "tcs_pin_letter", "personal": "certified_id_copy"}


@pytest.fixture
async def desk(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time) -> Office:
    """A company; nothing of it is scanned."""
    clock.set(NOW)
    return Office(api, host, clock)


async def filed(desk: Office, document_class: str) -> Filed:
    """A document that counts for an own requirement, and whose renewal is late."""
    made = await compliance_filed.filed(desk.host, desk.organization_id, document_class)
    await treated.risk(
        *(desk.host, desk.organization_id),
        rule_code="renewal_late",
        raised_by="rule",
        title=f"A renewal is late: {TYPES[document_class]}",
        category="expiry",
        document_id=made.document_id,
    )
    return made


def canaries(made: Filed) -> list[str]:
    """What names the document: itself, its evidence, and its last day."""
    return [str(made.document_id), str(made.evidence_id), LAST_DAY, DAY_AFTER]


async def shown(desk: Office, who: Member, made: Filed) -> dict[str, str]:
    """Every answer about how the requirements of the company stand."""
    here = str(desk.organization_id)
    named = f"organizationId={here}"
    paths = {
        "readiness": f"/compliance/readiness/{here}",
        "readiness on a day": f"/compliance/readiness/{here}?on=2027-06-01",
        "requirements": f"/compliance/requirements?{named}&sort=validUntil",
        "requirement": f"/compliance/requirements/{made.requirement_id}",
        "summary": f"/compliance/za/{here}",
        "risks": f"/compliance/risks?{named}",
    }
    answers = {name: await desk.api.get(path, headers=who.acting) for name, path in paths.items()}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {name: answer.text for name, answer in answers.items()}


def leaks(texts: dict[str, str], marks: list[str]) -> set[tuple[str, str]]:
    return {(name, mark) for name, text in texts.items() for mark in marks if mark in text}


async def state(desk: Office, who: Member, made: Filed) -> Any:
    path = f"/compliance/requirements/{made.requirement_id}"
    return (await desk.api.get(path, headers=who.acting)).json()["assessment"]


@pytest.mark.rule("CMP-48")
@pytest.mark.parametrize("document_class", ["confidential", "personal"])
async def test_readiness_and_risks_name_no_hidden_document(
    desk: Office, document_class: str
) -> None:
    made = await filed(desk, document_class)
    officer, viewer = await desk.member(), await desk.member("viewer")
    marks = canaries(made)

    hidden, known = await shown(desk, viewer, made), await shown(desk, officer, made)

    assert leaks(hidden, marks) == set()
    assert TYPES[document_class] not in hidden["risks"]
    assert '"A renewal is late"' in hidden["risks"]
    assert f"A renewal is late: {TYPES[document_class]}" in known["risks"]
    found = {name for name, _ in leaks(known, marks)}
    assert found == {"readiness", "readiness on a day", "requirements", "requirement", "risks"}
    assert await state(desk, viewer, made) == await state(desk, officer, made) == "provisional"


@pytest.mark.rule("CMP-48")
@pytest.mark.parametrize("role", ["viewer", "compliance_officer"])
async def test_summary_names_no_hidden_source(desk: Office, role: str) -> None:
    made = await compliance_filed.proven(
        *(desk.host, desk.organization_id, "tax_compliance", "confidential"), number="PIN4QX7P2"
    )
    path = f"/compliance/za/{desk.organization_id}"

    answer = await desk.api.get(path, headers=(await desk.member(role)).acting)

    (item,) = [one for one in answer.json()["items"] if one["code"] == "taxCompliance"]
    is_known = role == "compliance_officer"
    assert item["state"] in ("met", "provisional")
    assert (str(made.evidence_id) in str(item), item["validUntil"] is not None) == (is_known,) * 2
    assert (item["source"] is not None, item["asOf"] is not None) == (is_known,) * 2


@pytest.mark.rule("CMP-48")
async def test_changed_risk_names_no_hidden_document(desk: Office) -> None:
    """A bid manager treats risks, but does not read documents of persons."""
    made = await filed(desk, "personal")
    bidder = await desk.member("bid_manager")
    listed = f"/compliance/risks?organizationId={desk.organization_id}"
    (risk,) = (await desk.api.get(listed, headers=bidder.acting)).json()["items"]

    changed = await desk.api.patch(
        f"/compliance/risks/{risk['id']}",
        json={"impact": 3},
        headers=bidder.acting | {"If-Match": f'"{risk["version"]}"'},
    )

    assert (changed.status_code, changed.json()["impact"]) == (200, 3)
    assert (changed.json()["title"], changed.json()["documentId"]) == ("A renewal is late", None)
    assert str(made.document_id) not in changed.text


@pytest.mark.rule("CMP-48")
async def test_changed_requirement_names_no_hidden_document(desk: Office) -> None:
    made = await filed(desk, "personal")
    bidder = await desk.member("bid_manager")
    path = f"/compliance/requirements/{made.requirement_id}"
    version = (await desk.api.get(path, headers=bidder.acting)).json()["version"]

    changed = await desk.api.patch(
        path,
        json={"dueOn": "2026-12-01"},
        headers=bidder.acting | {"If-Match": f'"{version}"'},
    )

    assert (changed.status_code, changed.json()["assessment"]) == (200, "provisional")
    assert (changed.json()["evidenceIds"], changed.json()["validUntil"]) == ([], None)


@pytest.mark.rule("CMP-48")
async def test_own_confidential_document_is_shown_in_readiness(desk: Office) -> None:
    bringer = await desk.member("contributor")
    made = await compliance_filed.filed(
        desk.host, desk.organization_id, "confidential", brought_by=bringer.user_id
    )

    texts = await shown(desk, bringer, made)

    assert str(made.evidence_id) in texts["readiness"]
    assert LAST_DAY in texts["readiness"]


@pytest.mark.rule("CMP-48")
async def test_other_domains_learn_no_day_of_a_hidden_document(desk: Office) -> None:
    made = await filed(desk, "confidential")
    plain = await compliance_filed.filed(desk.host, desk.organization_id, "ordinary")
    terms = public.TenderTerms(
        tender_opportunity_id=made.document_id,
        closing_at=datetime(2028, 2, 1, 9, tzinfo=UTC),
        validity_ends_on=date(2028, 4, 1),
        expected_award_on=date(2028, 3, 20),
    )
    asking, here = LocalReadiness(with_ports(desk.host)), desk.organization_id

    today = await asking.on_date(organization_id=here)
    (later,) = await asking.for_tenders(organization_id=here, tenders=[terms])

    items = {one.code: one for one in later.items}
    hidden, known = items[str(made.requirement_id)], items[str(plain.requirement_id)]
    lapses = {(one.code, one.ends_on.isoformat()) for one in later.lapses}
    assert (hidden.state, hidden.evidence_ref, hidden.valid_until) == ("provisional", None, None)
    assert (known.state, str(known.valid_until)) == ("provisional", LAST_DAY)
    assert str(made.evidence_id) not in today.model_dump_json() + later.model_dump_json()
    assert lapses == {
        (str(plain.requirement_id), DAY_AFTER),
        (str(made.requirement_id), "2028-03-20"),
        (str(made.requirement_id), "2028-04-01"),
    }


async def test_planted_sight_of_everything_is_found(
    desk: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await filed(desk, "personal")
    viewer = await people.member(desk.host, desk.organization_id, role="viewer")
    marks = canaries(made)

    async def all_seen(*_: object) -> Sight:
        return Sight(frozenset(), None)

    plant(monkeypatch, classes, "sight_of", all_seen)

    found = leaks(await shown(desk, viewer, made), marks)

    assert {name for name, _ in found} >= {"readiness", "requirements", "requirement", "risks"}
    assert SIGHT_OF_ALL.hides("personal", None)
