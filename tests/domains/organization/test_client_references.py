"""Client references: who can confirm a project; nothing of the person lies open."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.canaries import sightings
from tests.domains.organization.offering import Folder, told
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.planting import plant
from thenga.domains.organization.services.people import client_references
from thenga.domains.organization.services.records import sealed_values
from thenga.domains.organization.tables import ClientReferenceStatus
from thenga.kernel.errors import NotFound, page_of
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

PROJECT = {"title": "Resealing", "clientName": "Emfuleni", "startedOn": "2024-02-01"}
PERSON = {
    "contactName": "Thabo Canarymokoena",
    "contactEmail": "thabo.canary@emfuleni.gov.za",
    "contactPhone": "016 950 5127",
    "contactPosition": "Roads engineer",
}


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def project(api: httpx2.AsyncClient, owner: people.Member) -> str:
    made = await Folder(api, owner, "past-projects").made(**PROJECT)
    return str(made["id"])


@pytest.fixture
async def clients(api: httpx2.AsyncClient, owner: people.Member) -> Folder:
    return Folder(api, owner, "client-references")


@pytest.mark.rule("ORG-14")
async def test_a_reference_is_prepared_and_shows_its_person_masked(clients: Folder, project: str):
    made = await clients.made(
        **PERSON, pastProjectId=project, questions=["on_time", "quality"], message="Good day"
    )
    read = await clients.get(f"/{made['id']}")

    assert read.json() == made
    assert (made["contactEmail"], made["contactPhone"]) == (
        "t*****@emfuleni.gov.za",
        "********5127",
    )
    assert (made["contactName"], made["contactPosition"]) == ("T*****", "Roads engineer")
    assert (made["status"], made["allowedMoves"]) == ("draft", [])
    assert await clients.ids(pastProjectId=project, status="draft") == [made["id"]]


async def test_a_reference_belongs_to_a_project_of_ones_own(
    clients: Folder, api: httpx2.AsyncClient, host: Host
):
    other = await people.member(host, uuid4(), role="owner")
    foreign = (await Folder(api, other, "past-projects").made(**PROJECT))["id"]

    answers = [await clients.add(**PERSON, pastProjectId=one) for one in (foreign, str(uuid4()))]

    told_apart = {(a.status_code, a.json()["code"], a.json()["detail"]) for a in answers}
    assert told_apart == {(404, "not-found", page_of(NotFound))}


async def leaks(clients: Folder, project: str, settings: Settings) -> list[str]:
    """Where the person of a reference that was made, changed, sent twice and read lies open."""
    canary = f"canary{uuid4().hex}"
    headers = clients.owner.headers | {"Idempotency-Key": uuid4().hex}
    body = PERSON | {
        "pastProjectId": project,
        "contactName": f"Thabo {canary}",
        "contactEmail": f"{canary}@emfuleni.gov.za",
    }
    answers = [await clients.api.post(clients.path, json=body, headers=headers) for _ in range(2)]
    one = answers[0].json()["id"]
    answers.append(await clients.patch(one, contactEmail=f"other.{canary}@emfuleni.gov.za"))
    answers += [await clients.get(rest) for rest in ("", f"/{one}", f"/{one}/versions")]
    shown = [str(a.request.url) for a in answers if canary in a.text]
    return [*shown, *await sightings(settings, ["organization", "identity"], canary)]


@pytest.mark.rule("ORG-16")
async def test_nothing_of_the_person_lies_open(clients: Folder, project: str, settings: Settings):
    found = await leaks(clients, project, settings)

    print(f"contact_canaries={len(found)}")
    assert found == []


@pytest.mark.rule("ORG-16")
async def test_a_planted_seal_that_seals_nothing_is_found(
    clients: Folder, project: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, sealed_values, "seal", lambda key, text, place: text.encode())
    plant(monkeypatch, sealed_values, "unseal", lambda key, sealed, place: sealed.decode())

    found = await leaks(clients, project, settings)

    assert "organization.client_reference" in found


@pytest.mark.rule("ORG-16")
async def test_erasure_removes_the_person_and_keeps_the_record(
    clients: Folder, project: str, host: Host, owner: people.Member
):
    made = await clients.made(**PERSON, pastProjectId=project, message="Dear canary")
    receipts = [await clients.post(f"{made['id']}/erase") for _ in range(2)]

    shown = (await clients.get(f"/{made['id']}")).json()
    versions = (await clients.get(f"/{made['id']}/versions", sort="version")).json()["items"]
    async with host.engines.connection("organization", "organization_system") as connection:
        key = await connection.fetchval(
            "SELECT sealed_key FROM organization.data_key WHERE subject_id = $1", UUID(made["id"])
        )

    assert receipts[0].json() == receipts[1].json()
    assert receipts[0].json()["outcome"] == "erased"
    personal = ("contactName", "contactEmail", "contactPhone", "contactPosition", "message")
    assert [shown[name] for name in personal] == [None] * 5
    assert {v["erased"] for v in versions} == {True}
    assert key is None
    assert await clients.ids(archived="true") == [made["id"]]
    events = [one["data"]["change"] for one in await told(host, owner.organization_id)][1:]
    assert events == ["added", "erased"]


@pytest.mark.rule("ORG-25")
async def test_an_address_of_ones_own_is_no_reference(
    clients: Folder, project: str, host: Host, owner: people.Member, api: httpx2.AsyncClient
):
    await companies.member_ref(host, owner.organization_id, owner.user_id)
    contacts = Folder(api, owner, "contacts")
    await contacts.made(kind="bids", name="Sipho", email="Sipho@Mokoena.example")
    member = f"{owner.user_id}@example.test"

    refused = [
        await clients.add(**PERSON | {"contactEmail": address}, pastProjectId=project)
        for address in (member, member.upper(), "sipho@mokoena.example")
    ]
    changed = await clients.made(**PERSON, pastProjectId=project)
    later = await clients.patch(changed["id"], contactEmail=member)

    for answer in (*refused, later):
        assert (answer.status_code, answer.json()["code"]) == (422, "organization-self-reference")
        assert answer.json()["errors"][0]["pointer"] == "/contactEmail"


@pytest.mark.rule("ORG-25")
async def test_a_planted_check_that_knows_no_members_is_found(
    clients: Folder,
    project: str,
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
):
    async def nobody(read: Any) -> frozenset[str]:
        return frozenset()

    plant(monkeypatch, client_references, "_own_addresses", nobody)
    await companies.member_ref(host, owner.organization_id, owner.user_id)
    own = f"{owner.user_id}@example.test"

    answer = await clients.add(**PERSON | {"contactEmail": own}, pastProjectId=project)

    assert answer.status_code != 422


@pytest.mark.rule("ORG-24")
async def test_clients_are_not_asked_too_often(
    clients: Folder, project: str, host: Host, owner: people.Member
):
    async def asked(email: str, rounds: int, days_ago: int) -> None:
        await companies.client_reference(
            host,
            owner.organization_id,
            owner.user_id,
            past_project_id=UUID(project),
            email=email,
            status=ClientReferenceStatus.REQUESTED,
            rounds=rounds,
            requested_at=host.now() - timedelta(days=days_ago, hours=1),
        )

    await asked(PERSON["contactEmail"], 2, 29)
    still = await clients.add(**PERSON, pastProjectId=project)
    await asked(PERSON["contactEmail"], 1, 1)
    of_address = await clients.add(**PERSON, pastProjectId=project)
    another = PERSON | {"contactEmail": "zanele@emfuleni.gov.za"}
    free = await clients.add(**another, pastProjectId=project)
    await asked("everybody@emfuleni.gov.za", 20, 0)
    of_day = await clients.add(**another, pastProjectId=project)

    assert (still.status_code, free.status_code) == (201, 201)
    for answer in (of_address, of_day):
        assert (answer.status_code, answer.json()["code"]) == (429, "organization-reference-limit")
        assert answer.headers["Retry-After"] == "86400"


async def test_what_was_sent_is_withdrawn_and_not_changed(
    clients: Folder, project: str, host: Host, owner: people.Member
):
    sent = await companies.client_reference(
        host,
        owner.organization_id,
        owner.user_id,
        past_project_id=UUID(project),
        status=ClientReferenceStatus.REQUESTED,
    )
    draft = await clients.made(**PERSON, pastProjectId=project)

    changed = await clients.patch(str(sent.id), message="Please hurry")
    early = await clients.post(f"{draft['id']}/withdraw")
    withdrawn = [await clients.post(f"{sent.id}/withdraw") for _ in range(2)]

    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    assert (early.status_code, early.json()["from"]) == (409, "draft")
    assert withdrawn[0].json() == withdrawn[1].json()
    assert withdrawn[0].json()["status"] == "withdrawn"


async def test_a_draft_is_changed_and_archived(clients: Folder, project: str):
    made = await clients.made(**PERSON, pastProjectId=project)

    changed = await clients.patch(made["id"], contactPhone=None, questions=["quality"])
    same = await clients.patch(made["id"], contactName=PERSON["contactName"])
    versions = (await clients.get(f"/{made['id']}/versions", sort="version")).json()["items"]
    first = (await clients.get(f"/{made['id']}/versions/1")).json()
    gone = await clients.delete(made["id"])

    assert (changed.json()["contactPhone"], changed.json()["questions"]) == (None, ["quality"])
    assert changed.json()["contactEmail"] == "t*****@emfuleni.gov.za"
    assert same.json()["version"] == changed.json()["version"] == 2
    assert versions[1]["changedFields"] == ["contact", "questions"]
    assert (versions[0], gone.status_code) == (first, 204)
    assert await clients.ids() == []
