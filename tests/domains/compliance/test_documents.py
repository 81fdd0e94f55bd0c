"""Documents: bytes are received, scanned and looked into before anyone reads them."""

import asyncio
import hashlib
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.canaries import sightings
from tests.conftest import Time
from tests.factories.compliance_documents import DOCUMENTS, Office, pdf
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites import stores
from tests.suites.sizes import size
from thenga.domains.compliance.services.documents import inspection, uploads
from thenga.kernel.files import contents
from thenga.kernel.files.scanner import EICAR, Outcome, Verdict
from thenga.kernel.files.store import FileStore, StoredFile
from thenga.kernel.values.calendar import local_day

_TWENTY_MIB = 20 * 1024 * 1024


def _objects(office: Office) -> set[str]:
    mine = f"/{office.organization_id}/"
    return {key for key in stores.keys(office.host.files) if mine in key}


REFUSED = [
    (413, "too-large"),
    (422, "compliance-digest-mismatch"),
    (415, "compliance-content-mismatch"),
]


async def refusals(office: Office) -> tuple[list[tuple[int, str | None]], int]:
    """Answers to a byte too many, a wrong digest and a program named PDF; objects that stay."""
    officer = await office.member()
    papers = [(await office.add(officer)).json() for _ in REFUSED]
    assert {one["contentStatus"] for one in papers} == {"awaiting_content"}
    assert {one["upload"]["maxBytes"] for one in papers} == {_TWENTY_MIB}
    wrong = f"sha-256=:{b64encode(bytes(32)).decode()}:"
    sent: list[tuple[bytes, dict[str, str]]] = [
        (pdf() + bytes(_TWENTY_MIB + 1 - len(pdf())), {}),
        (pdf(), {"Content-Digest": wrong}),
        (b"MZ" + bytes(200), {}),
    ]
    answers = [
        await office.put(officer, paper["id"], content, **headers)
        for paper, (content, headers) in zip(papers, sent, strict=True)
    ]
    codes = [(one.status_code, one.json().get("code")) for one in answers]
    print(f"refused={len(codes)} objects={len(_objects(office))}")
    return codes, len(_objects(office))


@pytest.mark.rule("CMP-7", "CMP-8")
async def test_what_is_refused_on_arrival_leaves_no_object(office: Office) -> None:
    assert await refusals(office) == (REFUSED, 0)


@pytest.mark.parametrize(
    ("module", "name", "bug", "place"),
    [
        (contents, "_check_digest", lambda *_: None, 1),
        (uploads, "_declared", lambda *_: None, 2),
    ],
)
async def test_a_planted_arrival_that_is_not_checked_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, bug: Any, place: int
) -> None:
    plant(monkeypatch, module, name, bug)

    codes, _ = await refusals(office)

    assert codes[place] != REFUSED[place]


@pytest.mark.rule("CMP-7")
async def test_of_two_first_uploads_at_once_one_is_kept(office: Office) -> None:
    officer = await office.member()
    made = (await office.add(officer)).json()

    sent = await asyncio.gather(
        *(office.put(officer, made["id"], pdf(mark=f"copy {n}")) for n in range(2))
    )

    assert sorted(one.status_code for one in sent) == [202, 409]
    assert len(_objects(office)) == 1


async def left_by_a_killed_upload(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str, int]:
    """The process dies after the last byte: objects then; status and objects after a day."""
    officer = await office.member()
    made = (await office.add(officer)).json()
    right = FileStore.put

    async def dying(store: FileStore, *given: Any, **more: Any) -> StoredFile:
        await right(store, *given, **more)
        raise RuntimeError("the process is gone")

    with monkeypatch.context() as patch, pytest.raises(AssertionError, match="answered 500"):
        patch.setattr(FileStore, "put", dying)
        await office.put(officer, made["id"], pdf())
    before = len(_objects(office))
    clock.move(timedelta(hours=24, seconds=1))
    await office.settle()
    shown = await office.get(await office.member(), made["id"])
    after = len(_objects(office))
    print(f"killed_after_stream objects={before}->{after} status={shown['contentStatus']}")
    return before, shown["contentStatus"], after


@pytest.mark.rule("CMP-7")
async def test_a_killed_upload_leaves_no_object(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await left_by_a_killed_upload(office, clock, monkeypatch) == (1, "lapsed", 0)


async def test_a_planted_sweep_that_leaves_objects_is_found(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileStore, "clear", _nothing)

    assert await left_by_a_killed_upload(office, clock, monkeypatch) == (1, "lapsed", 1)


@pytest.mark.rule("CMP-9")
async def test_a_file_is_available_only_once_it_is_clean(office: Office) -> None:
    officer = await office.member()
    need = await office.requirement()
    content = pdf(pages=3)
    made = (await office.add(officer)).json()
    received = await office.put(officer, made["id"], content)
    early = await office.link(officer, made, need)
    path = f"{DOCUMENTS}/{made['id']}/download-links"
    no_link = await office.api.post(path, json={}, headers=officer.acting)
    await office.settle()
    again = await office.put(officer, made["id"], content)

    shown = await office.get(officer, made["id"])
    (told,) = await office.events("DocumentUploaded")
    assert (received.status_code, received.json()["contentStatus"]) == (202, "quarantined")
    assert received.headers["location"].endswith(f"{DOCUMENTS}/{made['id']}")
    for refused in (early, no_link):
        assert (refused.status_code, refused.json()["code"]) == (409, "file-not-clean")
    assert (shown["contentStatus"], shown["currentVersion"]) == ("clean", 1)
    assert shown["versions"][0]["pages"] == 3
    assert told["sha256"] == hashlib.sha256(content).hexdigest() == shown["versions"][0]["sha256"]
    assert again.status_code == 200


FILES = size(12, 200)
_BAD = {
    "infected": lambda mark: pdf(mark=mark) + EICAR,
    "locked": lambda mark: pdf(mark=mark, password="secret"),
    "damaged": lambda mark: b"%PDF-1.7\nnothing that could be read " + mark.encode() + b"\n%%EOF\n",
    "too many pages": lambda mark: pdf(mark=mark, pages=501),
}


@dataclass
class Filed:
    """What could be had of many files, of which every second one is bad."""

    available_bad: int = 0
    unavailable_good: int = 0
    downloaded_before_clean: int = 0
    served_inline: int = 0


async def filed(office: Office, count: int) -> Filed:
    """File good and bad papers in turn, and try to have each before and after its scan."""
    officer, found = await office.member(), Filed()
    made: list[tuple[str, bool]] = []
    kinds = list(_BAD.values())
    for number in range(count):
        paper = (await office.add(officer)).json()["id"]
        bad = number % 2 == 1
        content = kinds[number // 2 % len(kinds)](paper) if bad else pdf(mark=paper)
        await office.put(officer, paper, content)
        made.append((paper, bad))
        found.downloaded_before_clean += await _download(office, officer, paper) is not None
    await office.settle()
    for paper, bad in made:
        got = await _download(office, officer, paper)
        found.available_bad += bad and got is not None
        found.unavailable_good += not bad and got is None
        found.served_inline += got is not None and not _is_attachment(got)
    print(
        f"files={count} available_bad={found.available_bad} "
        f"downloaded_before_clean={found.downloaded_before_clean} "
        f"served_inline={found.served_inline}"
    )
    return found


async def _download(office: Office, who: Member, paper: str) -> httpx2.Response | None:
    """The bytes of a paper, if there is any way to have them."""
    path = f"{DOCUMENTS}/{paper}/download-links"
    link = await office.api.post(path, json={}, headers=who.acting)
    if link.status_code != 201:
        assert (link.status_code, link.json()["code"]) == (409, "file-not-clean")
        return None
    got = await office.api.get(link.json()["url"].partition("/v1")[2])
    return got if got.status_code == 200 else None


def _is_attachment(got: httpx2.Response) -> bool:
    named = got.headers["content-disposition"].startswith("attachment")
    return named and got.headers["x-content-type-options"] == "nosniff"


@pytest.mark.rule("CMP-9", "CMP-11", "CMP-12")
async def test_bad_files_are_never_available(office: Office) -> None:
    assert await filed(office, FILES) == Filed()
    refused = [one["contentStatus"] for one in await office.events("DocumentRefused")]
    assert len(refused) == FILES // 2
    assert set(refused) == {"infected", "refused"}
    assert len(await office.events("DocumentUploaded")) == FILES - FILES // 2


async def _clean(*_: object) -> Verdict:
    return Verdict(Outcome.CLEAN)


async def _nothing(*_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("module", "name", "bug", "wrong"),
    [
        (contents, "_verdict", _clean, Filed(available_bad=1)),
        (inspection.Structure, "examine", _nothing, Filed(available_bad=2)),
        (contents, "clean", contents._stored, Filed(available_bad=4, downloaded_before_clean=8)),
    ],
    ids=["scanner", "structure", "quarantine"],
)
async def test_a_planted_file_that_is_not_looked_at_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, bug: Any, wrong: Filed
) -> None:
    monkeypatch.setattr(module, name, bug)

    assert await filed(office, 8) == wrong


async def test_a_new_version_names_the_version_it_replaces(office: Office) -> None:
    officer = await office.member()
    document = await office.clean(officer)

    without = await office.put(officer, document["id"], pdf(mark="second"))
    stale = await office.renew(officer, document | {"version": 1}, pdf(mark="second"))
    same = await office.renew(officer, document, pdf(mark=document["id"]))
    renewed = await office.renew(officer, document, pdf(mark="second"))
    await office.settle()

    shown = await office.get(officer, document["id"])
    assert (without.status_code, stale.status_code) == (428, 412)
    assert same.status_code == 200
    assert renewed.status_code == 202
    assert shown["currentVersion"] == 3  # the second would have been the same bytes
    assert [one["number"] for one in shown["versions"]] == [3, 1]


@pytest.mark.rule("CMP-24")
async def test_facts_decide_until_when_a_document_is_valid(office: Office, clock: Time) -> None:
    clock.set(datetime(2026, 11, 16, 8, tzinfo=UTC))
    officer = await office.member()
    document = await office.clean(officer, "coida_letter")
    undated = document["validity"]

    future = await office.patch(officer, document["id"], issuedOn="2099-01-01")
    changed = await office.patch(
        officer,
        document["id"],
        issuedOn="2026-05-12",
        renewal={"expectedOn": "2027-04-01"},
    )

    shown = changed.json()
    assert undated == "undated"
    assert (future.status_code, future.json()["code"]) == (422, "validation-failed")
    assert shown["validUntil"] == {"on": "2027-04-30", "basis": "cycle"}
    assert shown["renewal"]["expectedOn"] == "2027-04-01"
    assert len(await office.events("RenewalStarted")) == 1
    assert (await office.events("DocumentChanged"))[0]["changedFields"]


@pytest.mark.rule("CMP-44")
async def test_no_trail_holds_a_number_or_a_file_name(office: Office) -> None:
    canaries = [f"canary{uuid4().hex}" for _ in range(4)]
    name, number, holder, later = canaries
    officer, approver = await office.member(), await office.member("approver")
    issued = local_day(office.host.now()) - timedelta(days=15)
    stated = {"number": number, "holderName": holder, "issuedOn": issued.isoformat()}
    document = await office.clean(officer, fileName=f"{name}.pdf", **stated)
    changed = await office.patch(officer, document["id"], number=later)
    made = (await office.link(officer, document, await office.requirement(tender=True))).json()
    asked = (await office.ask(officer, made["id"])).json()
    sha = made["sha256"]
    await office.decide(approver.acting, asked["id"], outcome="verified", evidenceSha256=sha)
    await office.settle()

    found = await sightings(office.host.settings, ["compliance"], *canaries)

    trails = {"audit_entry", "outbox", "procrastinate_jobs"}
    seen = {table.removeprefix("compliance.") for table in found}
    print(f"number_canaries={len(seen & trails)} tables={sorted(seen)}")
    assert changed.json()["versions"][0]["documentNumber"] == later
    assert "document_version" in seen  # the search finds what is there
    assert seen & trails == set()
