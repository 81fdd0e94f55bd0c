"""Settings: dated versions, checked, kept once, read alike in every process."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from os import environ
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import Opening
from tests.factories.settings import change_setting, publish_change
from tests.kernel.job_worker import QUICK
from tests.kernel.running import running, until
from tests.planting import plant
from tests.probe import DOMAIN, MOST, SHADES, Shades
from tests.set_clock import SetClock
from thenga import topology
from thenga.domains.administration.public import (
    ConfigurationChanged,
    PolicyConfigurationChanged,
    Scope,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.configuration import row_of, value
from thenga.kernel.declare.law import EXTRA_HOLIDAYS, VAT_RATE
from thenga.kernel.declare.setting import Setting
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id

ROOT = Path(__file__).parents[2]
INSTANT = datetime(2027, 3, 31, 22, tzinfo=UTC)  # 1 April 2027 begins in South Africa
A_SECOND = timedelta(seconds=1)


@pytest.fixture
async def reset(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """Start without versions; only the owner of the table can switch its guard off."""
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    await admin.execute("SET session_replication_role = replica")
    await admin.execute("DELETE FROM probe.setting_value")
    await admin.execute("SET session_replication_role = origin")
    yield admin
    await admin.close()


async def _read(opening: Opening, setting: Setting[Any], *, on: date | None = None) -> Any:
    read = opening.reader()
    found = await value(read, setting, on=on)
    await read.close()
    return found


async def _at(opening: Opening, setting: Setting[Any], instant: datetime) -> Any:
    was = opening.host.clock
    opening.host.clock = SetClock(instant)
    try:
        return await _read(opening, setting)
    finally:
        opening.host.clock = was


async def test_default_of_the_law_counts_from_its_day(
    opening: Opening, reset: asyncpg.Connection
) -> None:
    assert await _read(opening, VAT_RATE, on=date(2018, 3, 31)) == 14
    assert await _read(opening, VAT_RATE, on=date(2018, 4, 1)) == 15
    assert await _read(opening, VAT_RATE) == 15


async def test_newest_version_in_force_counts(
    host: Host, opening: Opening, reset: asyncpg.Connection
) -> None:
    for number, effective_from in ((20, INSTANT), (30, INSTANT), (40, INSTANT - A_SECOND)):
        await change_setting(host, DOMAIN, MOST, number, effective_from=effective_from)

    assert await _at(opening, MOST, INSTANT) == 30
    assert await _at(opening, MOST, INSTANT - A_SECOND) == 40
    assert await _at(opening, MOST, INSTANT - 2 * A_SECOND) == MOST.default


async def test_earlier_version_does_not_undo_a_later_law(
    host: Host, opening: Opening, reset: asyncpg.Connection
) -> None:
    past = datetime(2017, 1, 1, tzinfo=UTC)
    await change_setting(host, DOMAIN, VAT_RATE, "13", effective_from=past)

    assert await _read(opening, VAT_RATE, on=date(2017, 6, 1)) == 13
    assert await _read(opening, VAT_RATE, on=date(2019, 6, 1)) == 15


async def test_value_has_the_type_of_its_setting(
    host: Host, opening: Opening, reset: asyncpg.Connection
) -> None:
    await change_setting(host, DOMAIN, SHADES, {"darkest": 70, "names": ["ash"]})
    await change_setting(host, DOMAIN, EXTRA_HOLIDAYS, ["2026-11-04"])

    assert await _read(opening, SHADES) == Shades(darkest=70, names=("ash",))
    assert await _read(opening, EXTRA_HOLIDAYS) == {date(2026, 11, 4)}


async def test_a_unit_of_work_reads_all_settings_at_once(
    host: Host, opening: Opening, reset: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = opening.reader()
    asked = []
    select = read.select_prepared

    async def counting(*arguments: Any, **more: Any) -> Any:
        asked.append(arguments)
        return await select(*arguments, **more)

    monkeypatch.setattr(read, "select_prepared", counting)
    for setting in DOMAIN.settings:
        await value(read, setting)
    await read.close()

    assert len(asked) == 1


Start = Callable[..., Callable[[datetime], Decimal]]


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Starts processes that read the VAT rate; none of them is connected to the mesh."""
    started: list[subprocess.Popen[str]] = []

    def begin(*flags: str) -> Callable[[datetime], Decimal]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kernel.setting_reader", *flags],
            cwd=ROOT,
            env=environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "THENGA_NATS": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"

        def ask(instant: datetime) -> Decimal:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{VAT_RATE.key} {instant.isoformat()}\n")
            process.stdin.flush()
            return Decimal(process.stdout.readline().strip())

        return ask

    yield begin
    for process in started:
        process.kill()
        process.wait(10)


async def _flips(host: Host, *asks: Callable[[datetime], Decimal]) -> list[tuple[Decimal, ...]]:
    """The rates that processes read a second before and at the instant of a later version."""
    for ask in asks:
        assert ask(INSTANT - 2 * A_SECOND) == 15  # they run and have read before it is published
    await change_setting(host, DOMAIN, VAT_RATE, "16", effective_from=INSTANT)
    return [tuple(ask(at) for ask in asks) for at in (INSTANT - A_SECOND, INSTANT)]


@pytest.mark.rule("ADM-10")
async def test_a_dated_version_takes_effect_in_two_processes(
    host: Host, reset: asyncpg.Connection, start: Start
) -> None:
    found = await _flips(host, start(), start())

    print(f"processes=2 before={found[0]} at={found[1]}")
    assert found == [(15, 15), (16, 16)]


async def test_a_process_that_remembers_a_value_is_found(
    host: Host, reset: asyncpg.Connection, start: Start
) -> None:
    found = await _flips(host, start(), start("--remembers"))

    assert found == [(15, 15), (16, 15)]


def _configuration(key: str, wanted: Any, **more: Any) -> ConfigurationChanged:
    return ConfigurationChanged(
        **{"config_id": new_id(), "number": 1, "effective_from": INSTANT} | more,
        key=key,
        value=wanted,
    )


def _policy(key: str, document: Any, **more: Any) -> PolicyConfigurationChanged:
    usual = {
        "config_id": new_id(),
        "target_domain": "probe",
        "version": 1,
        "effective_from": INSTANT,
        "kind": "parameters",
        "document_hash": "0" * 64,
    }
    return PolicyConfigurationChanged(**usual | more, policy_key=key, document=document)


Changed = ConfigurationChanged | PolicyConfigurationChanged
_TAKEN = """
    SELECT count(*) FROM probe.inbox i JOIN administration.outbox o ON o.id = i.event_id
    WHERE i.consumer LIKE 'kernel.apply_%' AND o.aggregate = $1
"""
_UNDONE = "SELECT count(*) FROM probe.procrastinate_jobs WHERE status IN ('todo', 'doing')"


class Kept(NamedTuple):
    """A row of `setting_value`, and the outcomes that were told of it."""

    value: Any
    refusal: str | None
    acknowledged: list[tuple[str, str | None]]


class Publish(Protocol):
    async def __call__(self, event: Changed, *, times: int = 1) -> list[Kept]: ...


@pytest.fixture
async def published(
    host: Host, settings: Settings, reset: asyncpg.Connection
) -> AsyncIterator[Publish]:
    """Publishes through Administration's outbox and JetStream, and waits for the probe's answer."""
    await reset.execute("DELETE FROM probe.procrastinate_jobs")
    mesh = MeshSide(host, [*topology.load(["administration"]), DOMAIN])
    mesh.sealers = []

    async def publish(event: Changed, *, times: int = 1) -> list[Kept]:
        wanted = await reset.fetchval(_TAKEN, event.aggregate) + times
        await publish_change(host, event, times=times)

        async def settled() -> bool:
            # In this order: a job is there as soon as its event is taken.
            if await reset.fetchval(_TAKEN, event.aggregate) != wanted:
                return False
            return not await reset.fetchval(_UNDONE)

        await until(settled)
        return await _kept(reset, event)

    async with running(mesh, JobSide(host, [DOMAIN], pace=QUICK)):
        yield publish


async def _kept(admin: asyncpg.Connection, event: Changed) -> list[Kept]:
    """Every row that came of a version, with the acknowledgements that it has."""
    is_policy = isinstance(event, PolicyConfigurationChanged)
    rows = await admin.fetch(
        "SELECT id, value, refusal_code FROM probe.setting_value WHERE key = $1 AND number = $2",
        event.policy_key if is_policy else event.key,
        event.version if is_policy else event.number,
    )
    return [
        Kept(
            row["value"] and json.loads(row["value"]),
            row["refusal_code"],
            [
                (data["outcome"], data.get("refusalCode"))
                for data in await _acknowledged(admin, row["id"])
            ],
        )
        for row in rows
    ]


async def _acknowledged(admin: asyncpg.Connection, config_id: UUID) -> list[dict[str, Any]]:
    rows = await admin.fetch(
        "SELECT envelope FROM probe.outbox WHERE aggregate = $1", f"config/{config_id}"
    )
    return [json.loads(row["envelope"])["data"] for row in rows]


@pytest.mark.rule("ADM-35")
@pytest.mark.parametrize(
    "event", [_configuration("probe.things.most", 7), _policy("probe.shades", {"darkest": 7})]
)
async def test_a_published_version_is_applied_once(
    published: Publish, opening: Opening, event: Changed
) -> None:
    kept = await published(event, times=2)

    print(f"deliveries=2 rows={len(kept)} acknowledgements={len(kept[0].acknowledged)}")
    assert [(one.refusal, one.acknowledged) for one in kept] == [(None, [("applied", None)])]
    assert await _at(opening, MOST, INSTANT) == 7 or await _at(opening, SHADES, INSTANT) != Shades()


async def test_a_version_kept_for_each_delivery_is_found(
    published: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = configuration._enqueue

    def forgetful(work: Any, job: Any, change: Any, **more: Any) -> None:
        true(work, job, change.model_copy(update={"config_id": new_id()}), **more)

    plant(monkeypatch, configuration, "_enqueue", forgetful)

    assert len(await published(_configuration("probe.things.most", 7), times=2)) == 2


REFUSED = {
    "too great": (_configuration("probe.things.most", 51), "value_invalid"),
    "of another type": (_configuration("probe.things.most", "7"), "value_invalid"),
    "an unknown field": (_policy("probe.shades", {"lightest": 7}), "value_invalid"),
    "of no key": (_policy("probe.unheard", 7), "unknown_key"),
    "a policy sent as a setting": (_configuration("probe.shades", {"darkest": 7}), "unknown_key"),
    "a setting sent as a policy": (_policy("probe.things.most", 7), "unknown_key"),
    "of one organization": (
        _configuration(
            "probe.things.most", 7, scope=Scope(kind="organization", organization_id=new_id())
        ),
        "scope_unsupported",
    ),
}


async def test_a_wrong_version_is_refused_and_acknowledged(
    published: Publish, opening: Opening
) -> None:
    for number, (name, (event, code)) in enumerate(REFUSED.items(), 1):
        field = "version" if isinstance(event, PolicyConfigurationChanged) else "number"

        kept = await published(event.model_copy(update={field: number}))

        assert kept == [Kept(None, code, [("refused", code)])], name
    assert await _at(opening, MOST, INSTANT) == MOST.default
    assert await _at(opening, SHADES, INSTANT) == SHADES.default
    print(f"refused={len(REFUSED)} applied=0")


async def test_an_unchecked_value_is_found(
    published: Publish, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusting(_: Any, kind: str, scope: str, text: str) -> tuple[Any, None]:
        return json.loads(text), None

    plant(monkeypatch, configuration, "_checked", trusting)

    kept = await published(_configuration("probe.things.most", 51))

    assert kept == [Kept(51, None, [("applied", None)])]


async def test_versions_of_others_are_left_alone(
    published: Publish, reset: asyncpg.Connection, host: Host
) -> None:
    for event in (
        _configuration("supplier.rating.days", 7),
        _policy("probe.shades", {"darkest": 7}, target_domain="supplier"),
    ):
        await publish_change(host, event)
    await published(_configuration("probe.things.most", 7))

    assert await reset.fetchval("SELECT count(*) FROM probe.setting_value") == 1


async def test_only_the_job_writes_versions(host: Host, reset: asyncpg.Connection) -> None:
    await change_setting(host, DOMAIN, MOST, 7)
    row = row_of("probe").__table__.fullname
    for login, refused in (
        (None, f"INSERT INTO {row} SELECT * FROM {row}"),
        (None, f"UPDATE {row} SET number = 2"),
        ("probe_system", f"UPDATE {row} SET number = 2"),
        ("probe_system", f"DELETE FROM {row}"),
    ):
        async with host.engines.connection("probe", login or "probe") as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(refused)
    with pytest.raises(asyncpg.RaiseError):
        await reset.execute(f"UPDATE {row} SET number = 2")
