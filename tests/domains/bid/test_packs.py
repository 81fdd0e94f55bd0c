"""Packs over HTTP: pinned, validated, sealed, unsealed and proven."""

import io
import time
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import select

from tests.conftest import Time
from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories.bid_offer import CASH
from tests.factories.bidding import Bidding
from tests.factories.compliance_documents import pdf
from tests.factories.identity import Member
from tests.suites.calls.sending import spare_session
from tests.suites.sizes import size
from thenga.domains.bid.services import packs
from thenga.domains.bid.services.packs import sealing
from thenga.domains.bid.tables import EvidenceRef, MatrixRow, Pack, PackStatus, Workspace
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

NO_FORMS = offers.TERMS | {"forms": []}


@pytest.fixture
async def bidding(
    api: httpx2.AsyncClient, host: Host, joined: Host, clock: Time, bidder: Member
) -> Bidding:
    """A bid without forms, whose price is complete."""
    return Bidding(api, joined, clock, bidder, await offers.workspace(host, bidder, terms=NO_FORMS))


async def assembled(bidding: Bidding, **body: Any) -> Any:
    """A pack as its build left it."""
    made = await bidding.post(f"{bidding.path}/submission-pack", body)
    assert made.status_code == 202, made.text
    await bidding.settle()
    return (await bidding.get(made.headers["location"].removeprefix("/v1"))).json()


async def ready(bidding: Bidding, **body: Any) -> Any:
    """A pack of a single member with its risks acknowledged."""
    await bidding.priced(CASH)
    pack = await assembled(bidding, **body)
    return await acknowledged(bidding, pack)


async def acknowledged(bidding: Bidding, pack: Any) -> Any:
    risks = {
        one["key"]: True for one in pack["validation"]["findings"] if one["severity"] == "high_risk"
    }
    path = f"/bids/submission-packs/{pack['id']}"
    done = await bidding.patch(path, {"acknowledgements": risks}, pack["version"])
    assert done.status_code == 200, done.text
    return (await bidding.get(path)).json()


async def sealed(bidding: Bidding, pack: Any) -> httpx2.Response:
    body = {"manifestSha256": pack["manifestSha256"]}
    return await bidding.post(f"/bids/submission-packs/{pack['id']}/seal", body)


async def submitted(bidding: Bidding, pack: Any, at: datetime, **more: Any) -> httpx2.Response:
    body = {"channel": "box", "submittedAt": at.isoformat().replace("+00:00", "Z"), **more}
    return await bidding.post(f"/bids/submission-packs/{pack['id']}/submit", body)


async def files_in(bidding: Bidding, envelope: Any) -> list[str]:
    file = await bidding.get(f"/bids/files/{envelope['zipFileId']}/content")
    assert file.status_code == 200, file.text
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        return archive.namelist()


@pytest.mark.rule("BID-40")
@pytest.mark.rule("BID-46")
async def test_a_single_member_seals_with_a_waiver_in_the_manifest(bidding: Bidding) -> None:
    pack = await ready(bidding)

    done = await sealed(bidding, pack)
    frozen = await bidding.patch(f"{bidding.path}/pricing-workbook", {"validityDays": 91}, 1)

    assert pack["validation"]["result"] == "valid", pack["validation"]
    assert (done.status_code, done.json()["status"]) == (200, "sealed"), done.text
    assert (frozen.status_code, frozen.json()["code"]) == (409, "bid-sealed")
    content = await bidding.get(f"/bids/files/{pack['envelopes'][0]['zipFileId']}/content")
    assert b"single_member" in content.content
    shown = (await bidding.get(bidding.path)).json()
    assert shown["status"] == "ready"


@pytest.mark.rule("BID-40")
async def test_a_second_approver_ends_the_waiver(bidding: Bidding) -> None:
    pack = await ready(bidding)
    await bidding.colleague("approver")

    refused = await sealed(bidding, pack)

    assert (refused.status_code, refused.json()["code"]) in [
        *((409, "bid-approval-missing"), (409, "bid-pack-blocked")),
    ]


@pytest.mark.rule("BID-42")
@pytest.mark.rule("BID-43")
async def test_a_gap_is_overridden_and_an_unapproved_price_is_not(
    bidding: Bidding, host: Host
) -> None:
    of = await offers.tender(host, terms=NO_FORMS)
    await factory.tenders.requirement(host, of, {"kind": "document", "params": {}})
    owner = bidding.owner
    bidding.workspace = await factory.workspace(
        host, owner.organization_id, owner.user_id, of_tender=of
    )
    await bidding.colleague("approver")
    await bidding.priced(CASH)
    pack = await assembled(bidding)
    path = f"/bids/submission-packs/{pack['id']}"
    found = {one["code"]: one for one in pack["validation"]["findings"]}

    blocked = await sealed(bidding, pack)
    reason = {"reason": "The buyer waived this in the clarification of 3 March."}
    price = {found["price_not_approved"]["key"]: reason}
    refused = await bidding.patch(path, {"overrides": price}, pack["version"])
    gap = {found["mandatory_gap"]["key"]: reason}
    rebuilt = await bidding.patch(path, {"overrides": gap}, pack["version"])
    await bidding.settle()
    after = (await bidding.get(path)).json()

    told = " ".join(blocked.json()["findings"])
    assert (blocked.status_code, blocked.json()["code"]) == (409, "bid-pack-blocked")
    assert "mandatory_gap" in told and "price_not_approved" in told
    assert (refused.status_code, refused.json()["code"]) == (422, "bid-override-not-allowed")
    assert rebuilt.status_code == 202, rebuilt.text
    assert after["manifestSha256"] != pack["manifestSha256"]
    assert after["overrides"][found["mandatory_gap"]["key"]]["by"] == "Lindiwe Mokoena"
    content = await bidding.get(f"/bids/files/{after['envelopes'][0]['zipFileId']}/content")
    assert b"clarification of 3 March" in content.content


@pytest.mark.rule("BID-44")
async def test_a_pack_of_120_files_is_built_once_and_again_the_same(
    bidding: Bidding, host: Host, bound: Host
) -> None:
    await bidding.priced(CASH)
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    made = [
        await offers.clean_file(*here, bytes_=pdf(mark=f"annex {n}"), name=f"Annex {n}.pdf")
        for n in range(119)
    ]
    extra = {str(one.id): {} for one in made}
    answer = await bidding.post(f"{bidding.path}/submission-pack", {"extraFiles": extra})
    pack_id = answer.json()["id"]
    orders = []
    for _ in range(2):  # a worker that dies before it records leaves nothing behind
        read = factory.working(bound, bidding.owner.organization_id, person=bidding.owner.user_id)
        order = await packs.order_of(read, UUID(pack_id), 1)
        await read.close()
        assert order is not None
        orders.append(await packs.build(order, bound.files, {}))

    began = time.monotonic()
    await bidding.settle()
    seconds = time.monotonic() - began

    (row,) = await bidding.rows(Pack)
    told = await factory.told(host, bidding.owner.organization_id, "SubmissionPackBuilt")
    equal = all(
        [one["zip_sha256"] for one in order.envelopes]
        == [one["zip_sha256"] for one in row.envelopes]
        for order in orders
    )
    count = len(row.envelopes[0]["files"])
    print(f"files={count} build_s={seconds:.1f} rebuilt_equal={int(equal)}")
    assert (row.status, count, equal, len(told)) == (PackStatus.BUILT, 120, True, 1)
    if size(0, 1):  # a busy machine takes longer
        assert seconds <= 20


@pytest.mark.rule("BID-45")
async def test_no_price_is_in_the_technical_envelope(bidding: Bidding, host: Host) -> None:
    bidding.workspace = await offers.workspace(host, bidding.owner, terms=NO_FORMS, envelopes="two")
    await bidding.priced(CASH)
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    plain, priced = [await offers.clean_file(*here, price=price) for price in (False, True)]
    extra = {str(plain.id): {}, str(priced.id): {"envelope": "financial"}}

    pack = await assembled(bidding, extraFiles=extra)
    wrong = await assembled(bidding, extraFiles={str(priced.id): {}})

    names = {one["name"]: await files_in(bidding, one) for one in pack["envelopes"]}
    assert {key: len(value) for key, value in names.items()} == {"technical": 2, "financial": 3}
    assert not any("Price" in one for one in names["technical"])
    codes = {one["code"] for one in wrong["validation"]["findings"] if one["state"] == "open"}
    assert "price_in_technical_envelope" in codes


@pytest.mark.rule("BID-46")
async def test_what_moved_after_assembling_is_not_sealed(bidding: Bidding) -> None:
    pack = await ready(bidding)
    path = f"{bidding.path}/pricing-workbook"
    version = (await bidding.get(path)).json()["version"]
    await bidding.patch(path, {"items": {"1": {"unitRate": "1000000.01"}}}, version)

    moved = await sealed(bidding, pack)
    other = await sealed(bidding, pack | {"manifestSha256": "0" * 64})

    assert (moved.status_code, moved.json()["code"]) == (409, "bid-pins-moved")
    assert (other.status_code, other.json()["code"]) == (409, "bid-pins-moved")


@pytest.mark.rule("BID-47")
async def test_unsealing_by_hand_needs_a_reason_and_keeps_the_bytes(bidding: Bidding) -> None:
    pack = await ready(bidding)
    await sealed(bidding, pack)
    path = f"/bids/submission-packs/{pack['id']}"
    version = (await bidding.get(path)).json()["version"]

    bare = await bidding.patch(path, {"move": "unseal"}, version)
    done = await bidding.patch(path, {"move": "unseal", "reason": "A typing mistake."}, version)
    bytes_ = await bidding.get(f"/bids/files/{pack['envelopes'][0]['zipFileId']}/content")
    told = await factory.told(bidding.host, bidding.owner.organization_id, "SubmissionPackUnsealed")

    assert (bare.status_code, bare.json()["rule"]) == (422, "BID-47")
    assert (done.json()["status"], done.json()["statusReason"]) == (
        *("unsealed", "A typing mistake."),
    )
    assert (bytes_.status_code, len(told)) == (200, 1)
    assert (await bidding.get(bidding.path)).json()["status"] == "preparing"


@pytest.mark.rule("BID-47")
async def test_a_reaction_unseals_and_voids_everything(bidding: Bidding, bound: Host) -> None:
    pack = await ready(bidding)
    await sealed(bidding, pack)
    for _ in range(3):
        work = factory.working(bound, bidding.owner.organization_id)
        await packs.unseal_for(work, bidding.workspace.id, "amendment")
        await work.finish()

    told = await factory.told(bidding.host, bidding.owner.organization_id, "SubmissionPackUnsealed")
    shown = (await bidding.get(f"/bids/submission-packs/{pack['id']}")).json()

    assert (shown["status"], [one["data"]["cause"] for one in told]) == ("unsealed", ["amendment"])


@pytest.mark.rule("BID-48")
async def test_a_receipt_at_the_closing_counts_and_one_later_does_not(
    bidding: Bidding, clock: Time, host: Host
) -> None:
    closing = await closing_of(bidding)
    pack = await ready(bidding)
    clock.set(closing - timedelta(milliseconds=1))
    just = await sealed(bidding, pack)
    clock.set(closing + timedelta(days=2))
    bidding.owner = await signed_in_again(host, bidding.owner)
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    file = await offers.clean_file(*here)

    late = await submitted(bidding, pack, closing + timedelta(milliseconds=1), receiptReference="1")
    early = await submitted(bidding, pack, closing - timedelta(minutes=2), receiptReference="1")
    bare = await submitted(bidding, pack, closing, receiptReference="R 1")
    minute = closing - timedelta(seconds=30)  # in which it was sealed
    done = await submitted(bidding, pack, minute, fileIds=[str(file.id)])
    second = await submitted(bidding, pack, closing, fileIds=[str(file.id)])

    assert just.status_code == 200, just.text
    assert (late.status_code, late.json()["code"]) == (422, "bid-closing-passed")
    assert (early.status_code, early.json()["field"]) == (422, "submittedAt")
    assert (bare.status_code, bare.json()["code"]) == (422, "bid-proof-required")
    assert (done.status_code, done.json()["proofs"][0]["recordedLate"]) == (200, True)
    assert len(second.json()["proofs"]) == 2
    told = await factory.told(host, bidding.owner.organization_id, "BidSubmitted")
    assert len(told) == 1
    assert (await bidding.get(bidding.path)).json()["status"] == "submitted"


@pytest.mark.rule("BID-5")
@pytest.mark.rule("BID-46")
async def test_nothing_is_sealed_at_the_closing(bidding: Bidding, clock: Time) -> None:
    closing = await closing_of(bidding)
    pack = await ready(bidding)
    clock.set(closing)

    answer = await sealed(bidding, pack)

    assert (answer.status_code, answer.json()["code"]) == (422, "bid-closing-passed")


@pytest.mark.rule("BID-5")
async def test_a_closing_that_moves_while_sealing_counts(
    bidding: Bidding, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = await ready(bidding)
    monkeypatch.setattr(sealing, "_check_bytes", closes_meanwhile(bidding))

    answer = await sealed(bidding, pack)

    assert (answer.status_code, answer.json()["code"]) == (422, "bid-closing-passed")


def closes_meanwhile(bidding: Bidding) -> Callable[[Work, Pack], Awaitable[None]]:
    """An amendment that moves the closing to this minute, while the archives are hashed."""

    async def hash_slowly(work: Work, pack: Pack) -> None:
        other = bidding.work()
        held = await other.lock(Workspace, bidding.workspace.id)
        held.closing_at = held.gate_at = work.now - timedelta(seconds=1)
        await other.save(held)
        await other.finish()

    return hash_slowly


async def signed_in_again(host: Host, who: Member) -> Member:
    """The same person with a new session, after the former one has expired."""
    started = await spare_session(host, who)
    return replace(who, session_id=started.session.id, token=started.pair.access_token)


async def closing_of(bidding: Bidding) -> datetime:
    """A closing in a few minutes, so that the proof of the session stays fresh."""
    work = bidding.work()
    held = await work.lock(Workspace, bidding.workspace.id)
    closing = (work.now + timedelta(minutes=3)).replace(microsecond=0)
    held.closing_at, held.gate_at, held.next_check_at = closing, closing, closing
    await work.save(held)
    await work.finish()
    return closing


@pytest.mark.rule("BID-48")
async def test_only_a_sealed_pack_is_submitted(bidding: Bidding) -> None:
    pack = await ready(bidding)

    answer = await submitted(bidding, pack, bidding.work().now, receiptReference="R 1")

    assert (answer.status_code, answer.json()["code"]) == (409, "bid-not-sealed")


@pytest.mark.rule("BID-47")
@pytest.mark.parametrize(
    ("state", "ends", "status"), [("live", None, 200), ("stale", None, 409), ("live", 2000, 409)]
)
async def test_evidence_that_failed_blocks_the_submission(
    bidding: Bidding, host: Host, state: str, ends: int | None, status: int
) -> None:
    owner, proof = bidding.owner, uuid4()
    of = await offers.tender(host, terms=NO_FORMS)
    await factory.tenders.requirement(host, of, {"kind": "document", "params": {}})
    held = await factory.workspace(
        host, owner.organization_id, owner.user_id, of_tender=of, status="ready"
    )
    work = bidding.work()
    (row,) = await work.all(select(MatrixRow).where(MatrixRow.workspace_id == held.id))
    row = await work.hold(row)
    row.response, row.evidence_ids = "comply", [str(proof)]
    await work.save(row)
    mine = {"organization_id": owner.organization_id, "workspace_id": held.id}
    until = None if ends is None else date(ends, 1, 1)
    await work.add(EvidenceRef(**mine, evidence_id=proof, state=state, valid_until=until))
    await work.finish()
    pin = {"kind": "evidence", "id": str(proof), "envelope": "single", "title": "Letter"}
    pack = await offers.pack(host, owner.organization_id, held.id, PackStatus.SEALED, pins=[pin])
    assert pack.sealed_at is not None

    answer = await submitted(bidding, {"id": pack.id}, pack.sealed_at, receiptReference="R 1")

    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.json()["findings"] == [f"evidence_invalid_at_closing:evidence:{proof}"]


@pytest.mark.rule("BID-41")
async def test_a_newer_pack_replaces_the_former(bidding: Bidding) -> None:
    first = await ready(bidding)

    running = await bidding.post(f"{bidding.path}/submission-pack", {})
    refused = await bidding.post(f"{bidding.path}/submission-pack", {})
    await bidding.settle()
    former = (await bidding.get(f"/bids/submission-packs/{first['id']}")).json()

    assert (running.json()["number"], former["status"]) == (2, "superseded")
    assert (refused.status_code, refused.json()["code"]) == (409, "bid-build-running")
