"""The record family, shown on equipment: every change leaves a version that can be cited."""

from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Opening
from tests.factories import identity as people
from tests.planting import plant
from thenga.domains.organization.services.records import records
from thenga.domains.organization.tables import RecordVersion
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


async def recorded(api: httpx2.AsyncClient, owner: people.Member) -> str:
    """The path of a machine that was added, changed twice, moved and archived."""
    folder = f"/organizations/{owner.organization_id}/equipment"
    body = {
        "name": "Grader",
        "quantity": 1,
        "make": "Bell",
        "expiries": [{"kind": "inspection", "expiresOn": "2199-03-01"}],
    }
    made = await api.post(folder, json=body, headers=owner.headers)
    one = f"{folder}/{made.json()['id']}"
    await api.patch(one, json={"name": "Grader 14 t"}, headers=owner.headers)
    await api.patch(one, json={"make": None, "quantity": 2}, headers=owner.headers)
    await api.post(f"{one}/assign", headers=owner.headers)
    await api.delete(one, headers=owner.headers)
    return one


@pytest.mark.rule("ORG-7")
async def test_each_version_stays_readable_word_for_word(
    api: httpx2.AsyncClient, owner: people.Member
):
    one = await recorded(api, owner)

    first = (await api.get(f"{one}/versions/1", headers=owner.headers)).json()
    listed = (await api.get(f"{one}/versions?sort=version", headers=owner.headers)).json()["items"]
    none = await api.get(f"{one}/versions/6", headers=owner.headers)

    assert (first["snapshot"]["name"], first["snapshot"]["make"]) == ("Grader", "Bell")
    assert first["snapshot"]["expiries"] == [{"kind": "inspection", "expiresOn": "2199-03-01"}]
    assert (first["actorId"], first["actorKind"]) == (str(owner.user_id), "user")
    assert [v["version"] for v in listed] == [1, 2, 3, 4, 5]
    changed = [v["changedFields"] for v in listed[1:]]
    assert changed == [["name"], ["make", "quantity"], ["status"], ["archivedAt"]]
    assert listed[0] == first
    assert none.status_code == 404


@pytest.mark.rule("ORG-1")
async def test_a_record_tells_who_said_each_of_its_fields(
    api: httpx2.AsyncClient, owner: people.Member
):
    one = await recorded(api, owner)

    shown = (await api.get(one, headers=owner.headers)).json()

    assert shown["provenance"]["kind"] == "customer_supplied"
    assert shown["provenance"]["recordedAt"] == shown["updatedAt"]
    said = {name: origin["version"] for name, origin in shown["fieldProvenance"].items()}
    expected = {"name": 2, "make": 3, "quantity": 3, "status": 4, "archivedAt": 5, "expiries": 1}
    assert said == expected


async def test_a_change_that_changes_nothing_leaves_no_version(
    api: httpx2.AsyncClient, owner: people.Member
):
    folder = f"/organizations/{owner.organization_id}/equipment"
    body = {"name": "Grader 14 t", "quantity": 1}
    made = await api.post(folder, json=body, headers=owner.headers)

    again = await api.patch(f"{folder}/{made.json()['id']}", json=body, headers=owner.headers)

    assert again.json()["version"] == 1


async def test_an_archived_record_is_only_read(api: httpx2.AsyncClient, owner: people.Member):
    one = await recorded(api, owner)

    refused = await api.patch(one, json={"name": "Grader 15 t"}, headers=owner.headers)

    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


async def test_versions_of_another_organization_are_not_there(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    one = await recorded(api, owner)
    other = await people.member(host, uuid4(), role="owner")
    foreign = one.replace(str(owner.organization_id), str(other.organization_id))
    missing = f"/organizations/{other.organization_id}/equipment/{uuid4()}"

    for rest in ("/versions", "/versions/1"):
        answers = [await api.get(f"{p}{rest}", headers=other.headers) for p in (foreign, missing)]
        told = [{**a.json(), "requestId": "", "instance": ""} for a in answers]
        assert told[0] == told[1]
        assert answers[0].status_code == 404


def version_of(owner: people.Member, kind: str) -> RecordVersion:
    return RecordVersion(
        organization_id=owner.organization_id,
        record_type="equipment",
        record_id=uuid4(),
        record_version=1,
        kind=kind,
        changed_fields=[],
        snapshot={},
        actor_kind="user",
    )


@pytest.mark.rule("ORG-1")
async def test_no_version_can_hold_what_a_machine_suggested(
    opening: Opening, owner: people.Member, seeded: None
):
    work = opening.work(owner.organization_id, "organization")
    with pytest.raises(asyncpg.CheckViolationError):
        await work.add(version_of(owner, "ai_suggested"))
    await work.close()


async def test_a_version_is_never_changed_again(
    opening: Opening, owner: people.Member, seeded: None
):
    work = opening.work(owner.organization_id, "organization")
    await work.add(version_of(owner, "imported"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await work.run("UPDATE organization.record_version SET snapshot = '{}'")
    await work.close()


async def gaps(host: Host, one: str) -> int:
    """Versions of a record that no version row tells of."""
    record_id = one.rsplit("/", 1)[1]
    async with host.engines.connection("organization", "organization_system") as connection:
        found: int = await connection.fetchval(
            "SELECT e.version - (SELECT count(*) FROM organization.record_version v "
            "WHERE v.record_id = e.id) FROM organization.equipment e WHERE id = $1::text::uuid",
            record_id,
        )
    return found


async def test_every_version_of_the_row_has_its_version_row(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    missing = await gaps(host, await recorded(api, owner))

    print(f"versions=5 missing={missing}")
    assert missing == 0


async def test_a_planted_save_past_the_family_is_found(
    api: httpx2.AsyncClient, owner: people.Member, host: Host, monkeypatch: pytest.MonkeyPatch
):
    async def save(work: Work, row: records.Record) -> list[str]:
        changed = list(work.changes(row))
        await work.save(row)
        return changed

    plant(monkeypatch, records, "save", save)

    assert await gaps(host, await recorded(api, owner)) == 4
