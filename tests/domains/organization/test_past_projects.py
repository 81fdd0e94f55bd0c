"""Past projects: what a company has done, and what proves it."""

from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests import sweeps
from tests.domains.organization.offering import Folder, tell, told
from tests.factories import identity as people
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.compliance import public as compliance
from thenga.domains.organization.services.offers import past_projects
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

PROJECT: dict[str, Any] = {
    "title": "Resealing of Voortrekker Street",
    "clientName": "Emfuleni Local Municipality",
    "startedOn": "2024-02-01",
}
DONE = {"completedOn": "2025-06-30", "value": {"amount": "4830000.00", "currency": "ZAR"}}
FOUND = {"outcome": "verified", "method": "manual", "source": {"reference": "call of 3 March"}}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


@pytest.fixture
async def projects(api: httpx2.AsyncClient, owner: people.Member) -> Folder:
    return Folder(api, owner, "past-projects")


async def check(
    projects: Folder, who: people.Person, project_id: str, **more: Any
) -> httpx2.Response:
    path = f"{projects.path}/{project_id}/verify"
    return await projects.api.post(path, json=FOUND | more, headers=who.headers)


async def test_a_project_is_recorded_published_and_archived(
    projects: Folder, host: Host, owner: people.Member
):
    made = await projects.made(**PROJECT, clientType="municipality", province="GP", role="main")
    refused = await projects.post(f"{made['id']}/publish")
    done = await projects.patch(made["id"], **DONE)
    published = await projects.post(f"{made['id']}/publish")
    archived = [await projects.post(f"{made['id']}/archive") for _ in range(2)]
    events = [one["data"] for one in await told(host, owner.organization_id)]

    assert made["allowedMoves"][0]["possible"] is False
    assert (refused.status_code, refused.json()["rule"]) == (422, "ORG-23")
    assert done.json()["value"] == DONE["value"]
    assert published.json()["status"] == "published"
    assert archived[0].json() == archived[1].json()
    assert (archived[0].json()["status"], await projects.ids()) == ("archived", [])
    assert [(e["change"], e["status"], e["recordVersion"]) for e in events] == [
        ("added", "draft", 1),
        ("updated", "draft", 2),
        ("publish", "published", 3),
        ("archive", "archived", 4),
    ]


async def test_project_is_published_at_once_and_deleted_in_any_state(
    projects: Folder,
):
    shown = await projects.made(**PROJECT, **DONE, publish=True)
    draft = await projects.made(**PROJECT)
    refused = await projects.add(**PROJECT, publish=True)

    gone = [await projects.delete(one["id"]) for one in (shown, draft, shown)]

    assert (shown["status"], refused.status_code) == ("published", 422)
    assert [one.status_code for one in gone] == [204, 204, 204]
    assert await projects.ids() == []
    assert await projects.ids(archived="true", status="archived") == [shown["id"]]
    assert (await projects.get(f"/{draft['id']}")).json()["status"] == "draft"


async def test_what_cannot_be_is_refused(projects: Folder):
    backwards = await projects.add(**PROJECT, completedOn="2024-01-31")
    alone = await projects.add(**PROJECT, role="joint_venture")
    elsewhere = await projects.add(**PROJECT, municipalityCode="EC101", province="GP")
    foreign = {"domain": "organization", "type": "equipment", "id": str(uuid4())}
    nowhere = await projects.add(**PROJECT, evidenceRefs=[foreign])
    unlike = await projects.add(**PROJECT, evidenceRefs=[foreign | {"domain": "billing"}])

    assert [one.json()["code"] for one in (backwards, alone, elsewhere, nowhere, unlike)] == [
        "rule-violated",
        "rule-violated",
        "organization-municipality-mismatch",
        "not-found",
        "rule-violated",
    ]


async def test_a_contract_is_recorded_once_for_each_client(projects: Folder):
    first = await projects.made(**PROJECT, contractNumber="8/2/RNM0614")
    twice = await projects.add(
        **PROJECT | {"clientName": "EMFULENI local municipality"}, contractNumber="8/2/RNM0614"
    )
    other = await projects.add(
        **PROJECT | {"clientName": "Rand Water"}, contractNumber="8/2/RNM0614"
    )
    await projects.delete(first["id"])
    later = await projects.add(**PROJECT, contractNumber="8/2/RNM0614")

    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert (other.status_code, later.status_code) == (201, 201)


async def test_filters_find_projects_by_client_value_and_day(projects: Folder):
    small = await projects.made(**PROJECT, **DONE, clientType="private", province="GP")
    large = await projects.made(
        **PROJECT,
        completedOn="2025-12-31",
        value={"amount": "90000000.00", "currency": "ZAR"},
        clientType="municipality",
        publish=True,
    )

    assert await projects.ids(clientType="private", province="GP") == [small["id"]]
    assert await projects.ids(valueMin="4830000.01") == [large["id"]]
    assert await projects.ids(valueMin="4830000", valueMax="4830000.00") == [small["id"]]
    assert await projects.ids(completedAfter="2025-06-30") == [large["id"]]
    assert await projects.ids(status="published") == [large["id"]]
    assert await projects.ids(verificationStatus="verified") == []


@pytest.mark.rule("ORG-6")
async def test_a_check_counts_until_what_was_checked_is_changed(
    projects: Folder, owner: people.Member, curator: people.Person
):
    made = await projects.made(**PROJECT, **DONE)

    by_member = await check(projects, owner, made["id"])
    open_ = await check(projects, curator, made["id"], outcome="inconclusive")
    proved = await check(projects, curator, made["id"])
    beside = await projects.patch(made["id"], province="GP")
    changed = await projects.patch(made["id"], title="Resealing of two streets")
    failed = await check(projects, curator, made["id"], outcome="failed")
    at_once = await check(projects, curator, made["id"])

    assert by_member.status_code == 403
    assert open_.json()["verificationStatus"] == "unverified"
    assert proved.json()["verificationStatus"] == "verified"
    assert [one["kind"] for one in proved.json()["verifiedBy"]] == ["check"]
    assert beside.json()["verificationStatus"] == "verified"
    assert (changed.json()["verificationStatus"], changed.json()["verifiedBy"]) == (
        "unverified",
        [],
    )
    assert [one["endedAt"] is None for one in changed.json()["verifications"]] == [False, False]
    assert failed.json()["verificationStatus"] == "failed"
    assert at_once.json()["verificationStatus"] == "failed"


def evidence_told(owner: people.Member, evidence_id: UUID, document_id: UUID, *, good: bool) -> Any:
    about = {
        "organization_id": owner.organization_id,
        "evidence_id": evidence_id,
        "proof_version": 1,
    }
    if not good:
        failed = {"verification_id": new_id(), "reason_code": "no_match"}
        return compliance.VerificationFailed(**about, **failed)
    proof = compliance.Proof(domain="compliance", type="document", id=document_id)
    more = {"proof": proof, "status": "verified", "assurance": "internal"}
    return compliance.EvidenceVerified(**about, **more)


async def proven_by_evidence(
    host: Host, settle: Settle, projects: Folder
) -> tuple[list[str], list[str]]:
    """What a project shows when its certificate was verified, and when that failed later."""
    owner, evidence_id = projects.owner, new_id()
    certificate = {"domain": "compliance", "type": "evidence", "id": str(evidence_id)}
    made = await projects.made(**PROJECT, **DONE, evidenceRefs=[certificate], publish=True)

    async def shown_after(*, good: bool) -> list[str]:
        """The status and its proofs once the event has had all its effects."""
        event_id = new_id()
        event = evidence_told(owner, evidence_id, new_id(), good=good)
        await tell(host, event, owner.organization_id, event_id=event_id)
        await settle(lambda: reacted(host, event_id))
        await sweeps.until_idle(host, "organization", owner.organization_id)
        project = (await projects.get(f"/{made['id']}")).json()
        return [project["verificationStatus"], *(by["kind"] for by in project["verifiedBy"])]

    return await shown_after(good=True), await shown_after(good=False)


async def reacted(host: Host, event_id: UUID) -> bool:
    """Whether the domain has reacted to an event."""
    async with host.engines.connection("organization", "organization_system") as connection:
        found = await connection.fetchval(
            "SELECT count(*) FROM organization.inbox WHERE event_id = $1", event_id
        )
    return bool(found)


@pytest.mark.rule("ORG-23")
async def test_verified_certificate_proves_a_project_until_lost(
    host: Host, settle: Settle, projects: Folder
):
    verified, lost = await proven_by_evidence(host, settle, projects)

    assert (verified, lost) == (["verified", "evidence"], ["unverified"])
    events = [one["data"] for one in await told(host, projects.owner.organization_id)]
    assert [e["verificationStatus"] for e in events] == ["unverified", "verified", "unverified"]


@pytest.mark.rule("ORG-23")
async def test_a_planted_project_that_stays_verified_is_found(
    host: Host, settle: Settle, projects: Folder, monkeypatch: pytest.MonkeyPatch
):
    settled = past_projects._settle

    async def never_lost(work: Any, row: Any) -> None:
        before = row.verification_status
        await settled(work, row)
        row.verification_status = max(before, row.verification_status)  # `verified` sorts last

    plant(monkeypatch, past_projects, "_settle", never_lost)

    _, lost = await proven_by_evidence(host, settle, projects)

    assert lost[0] == "verified"


@pytest.mark.rule("ORG-7")
async def test_each_version_says_what_was_stated(projects: Folder):
    made = await projects.made(**PROJECT, sharePercent="37.5")
    await projects.patch(made["id"], **DONE)

    versions = (await projects.get(f"/{made['id']}/versions", sort="version")).json()["items"]
    first = (await projects.get(f"/{made['id']}/versions/1")).json()

    assert versions[0] == first
    assert versions[1]["changedFields"] == ["value", "completedOn"]
    assert (first["snapshot"]["value"], first["snapshot"]["sharePercent"]) == (None, "37.5")
    assert versions[1]["snapshot"]["value"] == DONE["value"]
    assert first["recordType"] == "pastProject"
