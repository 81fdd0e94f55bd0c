"""Renewing early costs nothing; a scanner that is away or unfit lets nothing through."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from prometheus_client import REGISTRY

from tests.conftest import Time
from tests.factories.compliance_documents import Office, pdf
from tests.factories.compliance_readiness import Prover
from tests.planting import plant
from thenga.domains.compliance.reactions import reactions
from thenga.domains.compliance.services.evidence import links, staleness
from thenga.domains.compliance.tables import Document, Evidence
from thenga.domains.identity import public as identity
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.files.scanner import EICAR, Scanner
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.tooling.dev import clamav, processes

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)


async def scores_while_renewing(office: Office, clock: Time) -> list[float]:
    """The score at each step from an infected renewal to one that is verified."""
    clock.set(NOW)
    officer, approver = await office.member(), await office.member("approver")
    await Prover(office.host, office.organization_id).build()
    (row,) = await office.rows(Document, document_type_code="tcs_pin_letter")
    scores = []

    async def look() -> None:
        path = f"/compliance/readiness/{office.organization_id}"
        shown = (await office.api.get(path, headers=officer.acting)).json()
        scores.append(float(shown["score"]))

    await look()
    await office.renew(officer, await office.get(officer, str(row.id)), pdf() + EICAR)
    await look()
    await office.settle()
    await look()
    await office.renew(officer, await office.get(officer, str(row.id)), pdf(mark="renewed"))
    await look()
    await office.patch(officer, str(row.id), expiresOn="2027-12-31")
    await office.settle()
    await look()
    linked = (await office.events("EvidenceLinked"))[-1]
    new = await office.evidence(officer, linked["evidenceId"])
    asked = (await office.ask(officer, new["id"])).json()
    decided = await office.decide(
        approver.acting, asked["id"], outcome="verified", evidenceSha256=new["sha256"]
    )
    await look()
    assert decided.status_code == 200, decided.text
    old = await office.evidence(officer, new["successorOf"])
    assert (old["status"], old["staleReason"]) == ("stale", "replaced")
    print(f"min_score={min(scores)} steps={len(scores)}")
    return scores


@pytest.mark.rule("CMP-13")
async def test_readiness_never_dips_while_a_proof_is_renewed(office: Office, clock: Time) -> None:
    assert set(await scores_while_renewing(office, clock)) == {78.2}


async def test_a_planted_proof_that_steps_back_too_soon_is_found(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = links.add_successor

    async def hasty(work: Work, old: Evidence, *given: Any, by: Any) -> Any:
        made = await right(work, old, *given, by=by)
        await staleness.make_stale(work, await work.hold(old), "replaced")
        return made

    plant(monkeypatch, links, "add_successor", hasty)

    assert min(await scores_while_renewing(office, clock)) < 78.2


@contextmanager
def _scanner(office: Office, address: str) -> Iterator[None]:
    """The worker asks another scanner for a while."""
    usual = office.timeline.host
    settings = usual.settings.model_copy(update={"scanner": address})
    office.timeline.host = replace(usual, settings=settings, scanner=Scanner(settings))
    try:
        yield
    finally:
        office.timeline.host = usual


@contextmanager
def _unfit() -> Iterator[str]:
    """A scanner that does not look into long files, and says OK to them."""
    (port,) = processes.free_ports(1)
    with tempfile.TemporaryDirectory(prefix="thenga-clamav-") as made:
        folder = Path(made)
        limits = {"MaxFileSize": "25M", "AlertExceedsMax": "no"}
        process = clamav.launch(folder, port, folder / "log", **limits)
        try:
            assert processes.wait(lambda: clamav.answers(port), 120)
            yield f"127.0.0.1:{port}"
        finally:
            processes.end(process, SIGKILL, seconds=5)


async def seen_with_bad_scanners(office: Office, clock: Time) -> tuple[list[str], list[str]]:
    """Two papers while the scanner is away or unfit, and after it is well again."""
    officer, papers = await office.member(), []
    for content in (pdf(mark="first"), pdf() + EICAR):
        papers.append((await office.add(officer)).json()["id"])
        await office.put(officer, papers[-1], content)
    seen = []

    (closed,) = processes.free_ports(1)
    with _unfit() as unfit:
        for address in (f"127.0.0.1:{closed}", unfit):
            with _scanner(office, address), suppress(DependencyUnavailable):
                await office.settle()
            seen += [(await office.get(officer, one))["contentStatus"] for one in papers]
        unfit_figure = 1 - int(REGISTRY.get_sample_value("thenga_scanner_fit") or 0)
    clock.move(timedelta(minutes=2))
    await office.settle()

    after = [(await office.get(officer, one))["contentStatus"] for one in papers]
    print(
        f"scanner_unfit={unfit_figure} scanner_holes={seen.count('clean')} after={','.join(after)}"
    )
    return [*seen, f"unfit={unfit_figure}"], after


HELD_BACK = ["quarantined"] * 4 + ["unfit=1"]


@pytest.mark.rule("CMP-9", "CMP-10")
async def test_files_wait_for_a_scanner_that_can_be_believed(office: Office, clock: Time) -> None:
    seen, after = await seen_with_bad_scanners(office, clock)

    assert (seen, after) == (HELD_BACK, ["clean", "infected"])


async def test_a_planted_trust_in_any_scanner_is_found(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def passed(*_: object) -> None: ...

    monkeypatch.setattr(Scanner, "_test", passed)

    seen, _ = await seen_with_bad_scanners(office, clock)

    assert seen != HELD_BACK  # a scanner that does not look into long files was asked
    assert seen[-1] == "unfit=0"


@pytest.mark.rule("CMP-7")
async def test_bytes_that_never_come_lapse(office: Office, clock: Time) -> None:
    officer = await office.member()
    made = (await office.add(officer)).json()

    clock.move(timedelta(hours=24, seconds=1))
    await office.settle()

    officer = await office.member()
    shown = await office.get(officer, made["id"])
    (told,) = await office.events("DocumentRefused")
    assert (shown["contentStatus"], told["contentStatus"]) == ("lapsed", "lapsed")


@pytest.mark.rule("CMP-17")
async def test_a_membership_that_ends_frees_its_verifications(office: Office, host: Host) -> None:
    officer, leaver = await office.member(), await office.member("approver")
    document = await office.clean(officer)
    need = await office.requirement(tender=True)
    made = (await office.link(officer, document, need)).json()
    asked = (await office.ask(officer, made["id"])).json()
    await office.decide(leaver.acting, asked["id"], claim=True)
    event = identity.MembershipChanged(
        organization_id=office.organization_id,
        membership_id=leaver.membership_id,
        user_id=leaver.user_id,
        status="removed",
        previous_status="active",
        role_codes=[],
        seats_used=1,
    )

    work = office.work()
    envelope = Envelope(
        id=new_id(),
        type=event.type,
        source="/identity",
        subject="x",
        time=work.now,
        organizationid=office.organization_id,
        sequence=2,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, envelope)
    await work.finish()

    shown = await office.evidence(officer, made["id"])
    assert shown["status"] == "submitted"
    assert shown["verifications"][0]["status"] == "pending"
