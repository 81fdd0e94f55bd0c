"""Content of files: what was not scanned clean is read by nobody, whatever the scanner does."""

import asyncio
import hashlib
import random
import signal
import tempfile
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest

from tests.conftest import Opening
from tests.factories import identity as people
from tests.filed import DOMAIN, MIGRATIONS, MOST_BYTES, Paper
from tests.kernel.running import until
from tests.suites import moves, tables
from tests.suites.filing import BAD, CLEAN, Desk, scanning
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.domains.identity.services.roles import catalogue
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.files import contents, scanner
from thenga.kernel.files.contents import ContentLifecycle, ContentStatus
from thenga.kernel.files.scanner import EICAR, Outcome, Scanner
from thenga.kernel.http.app import make_app
from thenga.kernel.http.entrances import SLOW_SECONDS
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.starting import make_host
from thenga.tooling.dev import clamav, doctor, processes, servers


@pytest.fixture(scope="module")
def clamd(home: Path) -> Iterator[Path]:
    """ClamAV beside the other servers of this run."""
    servers.start(home, "clamav")
    yield home
    servers.stop(home, "clamav")


@pytest.fixture(scope="module")
async def filing(
    settings: Settings, seeded: None, clamd: Path
) -> AsyncIterator[tuple[Host, httpx2.AsyncClient]]:
    migrate(settings, [Migrated("filed", MIGRATIONS)])
    apart = {
        "actor_per_minute": 1_000_000,
        "redis": settings.redis.replace("/0", "/3"),
        "upload_bytes": 2 * MOST_BYTES,
        "scanner_seconds": 5.0,
    }
    host = make_host(settings.model_copy(update=apart))
    domains = topology.load(topology.DOMAINS)
    topology.bind(host, [*domains, DOMAIN], gate=Decisions)
    await catalogue.seed_permissions(host, [*domains, DOMAIN])
    app = make_app(host, host.bindings.of(Decisions), [*domains, DOMAIN])
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test/v1") as client:
        yield host, client
    await catalogue.seed_permissions(host, domains)
    await host.close()


@pytest.fixture
async def desk(filing: tuple[Host, httpx2.AsyncClient], host: Host) -> Desk:
    return Desk(*filing, await people.member(host, uuid4(), role="owner"))


async def test_a_file_is_readable_once_it_was_scanned_clean(desk: Desk) -> None:
    digest = b64encode(hashlib.sha256(CLEAN).digest()).decode()
    paper, received = await desk.send(CLEAN, **{"Content-Digest": f"sha-256=:{digest}:"})
    before = await desk.read(paper)
    async with scanning(desk.host):
        await until(lambda: _is(desk, paper, "clean"))
    after = await desk.read(paper)
    again, other = await desk.put(paper, CLEAN), await desk.put(paper, CLEAN + b"\n")

    assert (received.status_code, received.json()["contentStatus"]) == (200, "quarantined")
    assert received.json()["sha256"] == hashlib.sha256(CLEAN).hexdigest()
    assert received.json()["mediaType"] == "application/pdf"
    assert "object" not in received.text
    assert (before.status_code, before.json()["code"]) == (409, "file-not-clean")
    assert before.json()["contentStatus"] == "quarantined"
    assert (after.status_code, after.content) == (200, CLEAN)
    assert after.headers["content-digest"] == f"sha-256=:{digest}:"
    assert after.headers["cache-control"] == "no-store"
    assert (again.status_code, again.json()["contentStatus"]) == (200, "clean")
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


async def _is(desk: Desk, paper: UUID, wanted: str) -> bool:
    return await desk.status(paper) == wanted


async def test_what_is_refused_on_arrival_leaves_no_object(desk: Desk) -> None:
    before = desk.objects()
    wrong = f"sha-256=:{b64encode(bytes(32)).decode()}:"

    papers = [
        await desk.send(CLEAN + bytes(MOST_BYTES + 1 - len(CLEAN))),
        await desk.send(b"<html><script>alert(1)</script></html>"),
        await desk.send(CLEAN, **{"Content-Digest": wrong}),
    ]

    answers = [(sent.status_code, sent.json()["code"]) for _, sent in papers]
    left = desk.objects() - before
    print(f"refused={len(papers)} objects={len(left)}")
    assert answers == [
        (413, "too-large"),
        (415, "unsupported-media-type"),
        (422, "validation-failed"),
    ]
    assert left == set()
    assert await desk.statuses([paper for paper, _ in papers]) == {"awaiting_content"}


async def test_two_who_send_at_once_make_one_content(desk: Desk) -> None:
    made = await desk.client.post("/filed/papers", json={"name": "x"}, headers=desk.owner.acting)
    paper = UUID(made.json()["id"])
    before = desk.objects()

    sent = await asyncio.gather(*(desk.put(paper, CLEAN + bytes([48 + n])) for n in range(4)))

    assert sorted(one.status_code for one in sent) == [200, 409, 409, 409]
    assert len(desk.objects() - before) == 1


async def test_who_lost_the_right_while_sending_leaves_nothing(desk: Desk) -> None:
    made = await desk.client.post("/filed/papers", json={"name": "x"}, headers=desk.owner.acting)
    session = f"/identity/sessions/{desk.owner.session_id}/revoke"

    async def slowly() -> AsyncIterator[bytes]:
        yield CLEAN
        await asyncio.sleep(SLOW_SECONDS * 1.2)
        revoked = await desk.client.post(session, headers=desk.owner.headers)
        assert revoked.status_code == 200
        yield b"%"

    path = f"/filed/papers/{made.json()['id']}/content"
    late = await desk.client.put(path, content=slowly(), headers=desk.owner.acting)

    assert (late.status_code, late.json()["code"]) == (401, "session-revoked")
    assert desk.objects() == set()


async def test_no_transaction_waits_for_the_bytes(desk: Desk) -> None:
    made = await desk.client.post("/filed/papers", json={"name": "x"}, headers=desk.owner.acting)
    path = f"/filed/papers/{made.json()['id']}/late-content"

    late = await desk.client.put(path, content=CLEAN, headers=desk.owner.acting)

    assert (late.status_code, late.json()["code"]) == (500, "internal-error")


# The walk over good and bad files


async def walked(desk: Desk, count: int) -> tuple[int, int]:
    """Bad files that could be read at any time, and answers with bytes before a file was clean."""
    chance = random.Random(count)
    sent: dict[UUID, tuple[bytes, bool]] = {}
    available_bad = early = 0
    async with scanning(desk.host):
        for number in range(count):
            bad = chance.random() < 0.5
            made = chance.choice(list(BAD.values()))(number) if bad else CLEAN + b"%" * number
            paper, answer = await desk.send(made)
            assert answer.status_code == 200, answer.text
            sent[paper] = (made, bad)
            looked = chance.choice(list(sent))
            read = await desk.read(looked)
            early += read.status_code == 200 and not await _is(desk, looked, "clean")
            available_bad += read.status_code == 200 and sent[looked][1]
        async with asyncio.timeout(120):
            while "quarantined" in await desk.statuses(list(sent)):
                await asyncio.sleep(0.2)
    for paper, (made, bad) in sent.items():
        read = await desk.read(paper)
        available_bad += bad and read.status_code != 409
        assert bad or read.content == made
    return available_bad, early


async def test_no_bad_file_is_ever_read(desk: Desk) -> None:
    count = size(24, 200)

    available_bad, early = await walked(desk, count)

    print(f"files={count} available_bad={available_bad} read_before_clean={early}")
    assert (available_bad, early) == (0, 0)


async def test_a_door_that_does_not_ask_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "clean", contents._stored)

    available_bad, early = await walked(desk, 8)

    assert available_bad > 0
    assert early > 0


async def test_a_job_that_passes_all_is_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    right = contents._conclude
    passed = scanner.Verdict(Outcome.CLEAN)
    monkeypatch.setattr(
        contents, "_conclude", lambda row, verdict, key, at: right(row, passed, key, at=at)
    )

    available_bad, _ = await walked(desk, 8)

    assert available_bad > 0


# A scanner that is away, and one that cannot be believed


async def test_without_a_scanner_nothing_is_lost_or_clean(desk: Desk, clamd: Path) -> None:
    seconds = size(0, 30)
    async with scanning(desk.host):
        servers.stop(clamd, "clamav", signal.SIGKILL)
        sent = [(await desk.send(CLEAN + b"%" * n))[0] for n in range(6)]
        await until(lambda: _are_tried(desk, len(sent)))
        await asyncio.sleep(seconds)
        meanwhile = [await desk.status(paper) for paper in sent]
        read = {(await desk.read(paper)).status_code for paper in sent}
        servers.start(clamd, "clamav")
        async with asyncio.timeout(180 + 4 * seconds):  # a job that gave up is found by the sweep
            while await desk.statuses(sent) != {"clean"}:
                await asyncio.sleep(0.2)

    lost = [paper for paper in sent if (await desk.read(paper)).status_code != 200]
    early = meanwhile.count("clean")
    print(f"away_s={seconds} files={len(sent)} clean_meanwhile={early} lost={len(lost)}")
    assert (set(meanwhile), read, lost) == ({"quarantined"}, {409}, [])


@asynccontextmanager
async def scanned_badly(desk: Desk) -> AsyncIterator[Desk]:
    """A desk whose scanner does not look into long files, and says OK to them."""
    (port,) = processes.free_ports(1)
    with tempfile.TemporaryDirectory(prefix="thenga-clamav-") as made:
        folder = Path(made)
        limits = {"MaxFileSize": "100K", "MaxScanSize": "100K", "AlertExceedsMax": "no"}
        process = clamav.launch(folder, port, folder / "log", **limits)
        try:
            assert processes.wait(lambda: clamav.answers(port), 60)
            bad = desk.host.settings.model_copy(update={"scanner": f"127.0.0.1:{port}"})
            badly = replace(desk.host, settings=bad, scanner=Scanner(bad))
            yield Desk(badly, desk.client, desk.owner)
        finally:
            processes.end(process, signal.SIGKILL, seconds=5)


async def _are_tried(desk: Desk, count: int) -> bool:
    """Whether so many jobs of this person's organization have failed once, and wait."""
    async with desk.host.engines.connection("filed", "filed_system") as connection:
        tried: int = await connection.fetchval(
            "SELECT count(*) FROM filed.procrastinate_jobs "
            "WHERE args->>'organization_id' = $1 AND task_name = 'filed.inspect_paper' "
            "AND attempts > 0",
            str(desk.owner.organization_id),
        )
    return tried >= count


async def became(desk: Desk) -> set[str]:
    """What files are once they are clean, or once every job has failed with them."""
    sent = [(await desk.send(CLEAN + b"%" * n))[0] for n in range(3)]

    async def decided() -> bool:
        return await desk.statuses(sent) == {"clean"} or await _are_tried(desk, len(sent))

    async with scanning(desk.host):
        await until(decided)
        return await desk.statuses(sent)


async def test_scanner_that_misses_nested_eicar_cleans_nothing(desk: Desk) -> None:
    async with scanned_badly(desk) as badly:
        alone = await badly.host.scanner._ask(scanner._once(EICAR))
        with pytest.raises(DependencyUnavailable, match="does not find what it must"):
            await badly.host.scanner.check()

        assert alone.outcome is Outcome.INFECTED
        assert await became(badly) == {"quarantined"}


async def test_the_doctor_tells_a_fit_scanner_from_an_unfit_one(desk: Desk) -> None:
    def is_fit(scanner: str) -> bool:
        settings = desk.host.settings.model_copy(update={"scanner": scanner})
        return all(one.ok for one in doctor._scanner(settings))

    async with scanned_badly(desk) as badly:
        assert not await asyncio.to_thread(is_fit, badly.host.settings.scanner)
    assert await asyncio.to_thread(is_fit, desk.host.settings.scanner)


async def test_a_scanner_that_is_believed_untested_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def passes(scanner: Scanner) -> None: ...

    monkeypatch.setattr(Scanner, "check", passes)

    async with scanned_badly(desk) as badly:
        assert await became(badly) == {"clean"}


async def test_the_test_is_made_again_after_an_hour(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    async def test(self: Scanner) -> None:
        made.append("made")

    monkeypatch.setattr(Scanner, "_test", test)
    watched, now = Scanner(desk.host.settings), 1000.0
    monkeypatch.setattr(scanner, "monotonic", lambda: now)
    for later in (0.0, 3599.0, 1.0, 3599.0):
        now += later
        await watched.check()

    assert len(made) == 2


async def test_a_worker_tests_the_scanner_at_its_start(desk: Desk) -> None:
    watched, stop = Scanner(desk.host.settings), asyncio.Event()
    watching = asyncio.create_task(scanner.watch(watched, stop))
    async with asyncio.timeout(30):
        while watched._passed is None:
            await asyncio.sleep(0.05)
    stop.set()
    await watching


# What time does


async def moved_by_time(desk: Desk, opening: Opening, paper: UUID) -> None:
    """Bring the row's time about, so that the domain's sweep finds it."""
    work = opening.work(desk.owner.organization_id, "filed")
    row = await work.lock(Paper, paper)
    row.next_check_at = work.now - timedelta(seconds=1)
    await work.save(row)
    await work.finish()


async def test_missing_uploads_lapse_and_infected_ones_are_deleted(
    desk: Desk, opening: Opening
) -> None:
    made = await desk.client.post("/filed/papers", json={"name": "x"}, headers=desk.owner.acting)
    awaited = UUID(made.json()["id"])
    before = desk.objects()
    infected, _ = await desk.send(EICAR)
    async with scanning(desk.host):
        await until(lambda: _is(desk, infected, "infected"))
        kept = desk.objects() - before
        for paper in (awaited, infected):
            await moved_by_time(desk, opening, paper)
        await until(lambda: _is(desk, awaited, "lapsed"))
        async with asyncio.timeout(30):
            while desk.objects() - before:
                await asyncio.sleep(0.1)
    late, read = await desk.put(awaited, CLEAN), await desk.read(infected)

    assert len(kept) == 1
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert (read.status_code, read.json()["contentStatus"]) == (409, "infected")


async def test_a_lost_job_is_found_again(desk: Desk, opening: Opening) -> None:
    paper, _ = await desk.send(CLEAN)
    async with desk.host.engines.connection("filed", "filed_system") as connection:
        await connection.execute("DELETE FROM filed.procrastinate_jobs")
    await moved_by_time(desk, opening, paper)

    async with scanning(desk.host):
        await until(lambda: _is(desk, paper, "clean"))


async def test_the_table_and_the_lifecycle_keep_to_what_sweeps_ask(
    filing: tuple[Host, httpx2.AsyncClient], settings: Settings
) -> None:
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    swept = await tables.sweep(admin, ["filed"], [Paper])
    await admin.close()

    assert swept.faults == []
    assert moves.sweep([ContentLifecycle]).faults == []
    assert "object_key" in Paper.__secret__


def test_nothing_but_a_scan_leads_to_clean() -> None:
    leading = [m for m in ContentLifecycle.moves.values() if m.to is ContentStatus.CLEAN]

    assert [(move.verb, move.sources) for move in leading] == [
        ("pass", frozenset({ContentStatus.QUARANTINED}))
    ]
