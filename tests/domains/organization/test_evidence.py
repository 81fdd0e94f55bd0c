"""Evidence: what other domains tell of it, and what becomes of what it proved."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.organization.offering import (
    Folder,
    move_clock,
    sandbox,
    tell,
    told_types,
)
from tests.domains.organization.proving import (
    CLAIM,
    GRADING,
    check,
    expired,
    is_live,
    lapsed,
    lapses,
    proven,
    reference,
    state_of,
    tell_and_wait,
    verified,
)
from tests.factories import identity as people
from tests.planting import plant
from tests.settling import Settle
from tests.suites import clocks
from thenga.domains.compliance import public as compliance
from thenga.domains.learning import public as learning
from thenga.domains.organization import public
from thenga.domains.organization.services.evidence import evidence
from thenga.domains.organization.services.offers import capabilities
from thenga.domains.organization.tables import Capability
from thenga.kernel.db.work import Work
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def curator(host: Host, seeded: None) -> people.Person:
    return await people.staff(host, "platform_curator")


@pytest.fixture
async def claims(api: httpx2.AsyncClient, owner: people.Member) -> Folder:
    return Folder(api, owner, "capabilities")


@pytest.mark.rule("ORG-21")
async def test_proof_lapses_once_when_its_evidence_is_gone(
    host: Host, settle: Settle, claims: Folder, owner: people.Member, curator: people.Person
):
    evidence_id, document_id = new_id(), new_id()
    made = await claims.made(**CLAIM, cidb=GRADING, evidenceRefs=[reference(evidence_id)])
    path = f"{made['id']}/request-review"

    unseen = await claims.post(path)
    await tell(host, verified(owner, evidence_id, document_id), owner.organization_id)
    await settle(lambda: is_live(claims, made["id"]))
    reviewed, again = await claims.post(path), await claims.post(path)
    proved = await check(claims, curator, made["id"])
    event_id = new_id()
    for _ in range(2):
        await tell(host, expired(owner, document_id), owner.organization_id, event_id=event_id)
    await tell(host, expired(owner, document_id), owner.organization_id)
    await settle(lambda: lapsed(claims, made["id"]))
    await tell_and_wait(host, settle, claims)

    assert (unseen.status_code, unseen.json()["code"]) == (422, "organization-evidence-not-live")
    assert (reviewed.json()["verificationStatus"], again.json()) == (
        "under_review",
        reviewed.json(),
    )
    assert proved.json()["verificationStatus"] == "verified"
    assert proved.json()["verifications"][0]["version"] == reviewed.json()["version"]
    types = await told_types(host, owner.organization_id)
    print(
        f"capability_verified={types.count('CapabilityVerified')} "
        f"capability_lapsed={types.count('CapabilityLapsed')}"
    )
    assert types == [
        *("CapabilityClaimed", "CapabilityChanged", "CapabilityVerified", "CapabilityLapsed")
    ]
    assert await state_of(claims, made["id"]) == ["stale"]


@pytest.mark.rule("ORG-21")
async def test_a_planted_lapse_that_looks_at_no_state_is_found(
    host: Host,
    settle: Settle,
    claims: Folder,
    owner: people.Member,
    curator: people.Person,
    monkeypatch: pytest.MonkeyPatch,
):
    capability_id, document_id = await proven(host, settle, claims, curator)

    async def lapse_always(work: Work, evidence_ids: Iterable[UUID]) -> None:
        row = await work.lock(Capability, UUID(capability_id))
        await work.touch(row)
        work.publish(public.CapabilityLapsed(**capabilities._state(row)))

    plant(monkeypatch, capabilities, "recheck_capabilities", lapse_always)
    for _ in range(2):
        await tell(host, expired(owner, document_id), owner.organization_id)

    async def twice() -> bool:
        return await lapses(host, owner) == 2

    await settle(twice)


@pytest.mark.rule("ORG-21")
async def test_a_planted_review_without_live_evidence_is_found(
    claims: Folder, monkeypatch: pytest.MonkeyPatch
):
    async def always(read: Any, row: Capability) -> list[evidence.Known]:
        return [evidence.UNKNOWN]

    plant(monkeypatch, capabilities, "_live", always)
    made = await claims.made(**CLAIM, evidenceRefs=[reference(uuid4())])

    assert (await claims.post(f"{made['id']}/request-review")).status_code != 422


@pytest.mark.rule("ORG-21")
async def test_expiry_of_an_older_document_version_changes_nothing(
    host: Host, settle: Settle, claims: Folder, owner: people.Member
):
    document_id = new_id()
    made = await claims.made(**CLAIM, evidenceRefs=[reference(document_id, "document")])
    renewed = compliance.DocumentUploaded(
        organization_id=owner.organization_id,
        document_id=document_id,
        document_version=2,
        document_type_code="cidb_certificate",
    )

    await tell(host, renewed, owner.organization_id)
    await settle(lambda: is_live(claims, made["id"]))
    await tell(host, expired(owner, document_id, version=1), owner.organization_id)
    await tell_and_wait(host, settle, claims)
    kept = await state_of(claims, made["id"])
    await tell(host, expired(owner, document_id, version=2), owner.organization_id)

    async def stale() -> bool:
        return await state_of(claims, made["id"]) == ["stale"]

    await settle(stale)
    assert kept == ["live"]


@pytest.mark.rule("ORG-21")
async def test_certificates_and_failed_checks_are_known_too(
    host: Host, settle: Settle, claims: Folder, owner: people.Member
):
    certificate, evidence_id = new_id(), new_id()
    refs = [reference(certificate, "certificate", "learning"), reference(evidence_id)]
    made = await claims.made(**CLAIM, evidenceRefs=refs)
    org = owner.organization_id
    issued = {"organization_id": org, "certificate_id": certificate, "user_id": owner.user_id}

    await tell(host, learning.CertificateIssued(**issued), org)
    await tell(host, verified(owner, evidence_id, new_id()), org)

    async def seen(*states: str) -> bool:
        return await state_of(claims, made["id"]) == list(states)

    await settle(lambda: seen("live", "live"))
    await tell(host, learning.CertificateRevoked(**issued, code="fraud"), org)
    failed = {"organization_id": org, "evidence_id": evidence_id, "verification_id": new_id()}
    told_wrong = compliance.VerificationFailed(**failed, proof_version=1, reason_code="no_match")
    await tell(host, told_wrong, org)
    await settle(lambda: seen("stale", "stale"))


@pytest.mark.rule("ORG-21")
async def test_records_of_ones_own_are_evidence_while_they_are_kept(
    api: httpx2.AsyncClient,
    owner: people.Member,
    claims: Folder,
    curator: people.Person,
    host: Host,
):
    machines = Folder(claims.api, owner, "equipment")
    machine = await machines.made(name="Crane", quantity=1)
    own = [reference(UUID(machine["id"]), "equipment", "organization")]
    made = await claims.made(**CLAIM, evidenceRefs=own)
    await claims.post(f"{made['id']}/request-review")
    proved = await check(claims, curator, made["id"])

    await machines.delete(machine["id"])
    after = (await claims.get(f"/{made['id']}")).json()

    assert proved.json()["verificationStatus"] == "verified"
    assert (after["verificationStatus"], after["evidenceState"][0]["state"]) == ("lapsed", "stale")
    assert await lapses(host, owner) == 1


@pytest.mark.rule("ORG-21")
@pytest.mark.usefixtures("nothing_waits")
async def test_a_time_that_is_over_lapses_on_reading_and_is_told_once(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    async with clocks.running([MeshSide(host, clocks.quick())]):
        owner = await sandbox(api, host)
        claims = Folder(api, owner, "capabilities")
        machine = await Folder(api, owner, "equipment").made(name="Crane", quantity=1)
        own = [reference(UUID(machine["id"]), "equipment", "organization")]
        made = await claims.made(**CLAIM, evidenceRefs=own)
        await claims.post(f"{made['id']}/request-review")
        await check(claims, await people.staff(host, "platform_curator"), made["id"])
        await move_clock(api, host, owner, to=364, by=364)
        before = await claims.ids(verificationStatus="verified")
        await move_clock(api, host, owner, to=401, by=37)
        shown = (await claims.get(f"/{made['id']}")).json()["verificationStatus"]
        found = await claims.ids(verificationStatus="lapsed")
        untold = await lapses(host, owner)
        async with clocks.running([JobSide(host, clocks.quick_of("organization"))]):

            async def once() -> bool:
                return await lapses(host, owner) == 1

            await clocks.until(once)

    assert (before, shown, found, untold) == ([made["id"]], "lapsed", [made["id"]], 0)
