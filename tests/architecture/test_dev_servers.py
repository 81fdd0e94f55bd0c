"""The servers of `thenga dev up`, killed the hard way, and what the doctor says of them."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import nats
import psycopg
import pytest
import redis
from nats.js.api import StorageType
from pydantic import SecretStr

from thenga.command import main
from thenga.kernel.events import accounts
from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import doctor, processes, servers

# What the doctor says of ports where nobody listens: it was refused at once and tried no longer.
REFUSED = ("NoServersError", "ConnectionError")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("servers") / "dev"
    yield folder
    servers.remove(folder)


@pytest.fixture(scope="module")
def settings(home: Path) -> Iterator[Settings]:
    servers.up(home)
    with pytest.MonkeyPatch.context() as patch:
        # The environment wins over the file, and may lead to the servers of the other tests.
        for name in [name for name in os.environ if name.startswith("THENGA_")]:
            patch.delenv(name)
        patch.setenv("THENGA_UPLOAD_BYTES", "1000000")  # the scanner's test file is as long
        yield Settings(_env_file=home / "env")  # type: ignore[call-arg]  # not seen by mypy


@pytest.fixture(autouse=True)
def patient_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine answers late; how long the doctor waits is not the subject here."""
    monkeypatch.setattr(doctor, "_SECONDS", 60)


def test_servers_are_started_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    for step in ("_launch", "_await"):
        _note(monkeypatch, step, steps)

    servers.up(tmp_path / "dev", synced=False)
    servers.remove(tmp_path / "dev")

    assert steps == ["_launch"] * len(servers.NAMES) + ["_await"] * len(servers.NAMES)


def _note(monkeypatch: pytest.MonkeyPatch, step: str, steps: list[str]) -> None:
    real = getattr(servers, step)

    def noting(*arguments: object) -> object:
        steps.append(step)
        return real(*arguments)

    monkeypatch.setattr(servers, step, noting)


def test_failed_start_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without ClamAV, which is the last to be started."""
    home, real = tmp_path / "dev", processes.find_program

    def without_clamav(name: str, *folders: Path) -> str:
        if name == "clamd":
            raise FileNotFoundError("clamd is not installed")
        return real(name, *folders)

    monkeypatch.setattr(processes, "find_program", without_clamav)
    with pytest.raises(FileNotFoundError, match="clamd is not installed"):
        servers.up(home, synced=False)

    left = _working_in(home, _state(home).postgres)
    servers.remove(home)
    assert left == []


def test_failed_start_keeps_what_ran_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "dev"
    servers.up(home, synced=False, names=("nats", "redis"))
    try:
        before = servers.status(home)["redis"]
        servers.stop(home, "nats", signal.SIGKILL)
        monkeypatch.setattr(servers, "_SECONDS", 0.5)
        monkeypatch.setitem(servers._ANSWERS, "nats", lambda _: False)
        with pytest.raises(processes.NeverAnswered, match="nats"):
            servers.up(home)

        assert servers.status(home)["redis"] == before
        assert _working_in(home) == [before.pid]
    finally:
        servers.remove(home)


def _state(home: Path) -> servers.State:
    return servers.State.model_validate_json((home / "state.json").read_text())


def _working_in(*folders: Path) -> list[int]:
    """The processes whose working directory is in one of these folders."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            here = (process / "cwd").readlink()
            if any(here.is_relative_to(folder.resolve()) for folder in folders):
                found.append(int(process.name))
    return found


def test_killed_servers_come_back_with_what_they_had_answered(home: Path) -> None:
    reach = servers.up(home)
    before = servers.status(home)
    admin = reach["THENGA_ADMIN_DATABASE"]
    with psycopg.connect(admin) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('coconut')")
    asyncio.run(_publish(_tools(reach)))
    with redis.Redis.from_url(reach["THENGA_REDIS"]) as cache:
        cache.set("word", "coconut")

    for name in servers.NAMES:
        servers.stop(home, name, signal.SIGKILL)
    killed = [name for name, standing in servers.status(home).items() if not standing.running]
    for name in servers.NAMES:
        servers.start(home, name)

    with psycopg.connect(admin) as connection:
        assert connection.execute("SELECT word FROM kept").fetchall() == [("coconut",)]
    assert asyncio.run(_messages(_tools(reach))) == 1
    with redis.Redis.from_url(reach["THENGA_REDIS"]) as cache:
        assert cache.get("word") is None  # a cache by decision, so nothing may rely on it
    after = servers.status(home)
    recovered = [name for name in killed if after[name].running]
    print(f"\ndev_servers kills={len(killed)} recovered={len(recovered)}")
    assert recovered == list(servers.NAMES)
    assert {name: each.port for name, each in after.items()} == {
        name: each.port for name, each in before.items()
    }


def test_busy_postgres_restarts_after_its_children_exit(home: Path) -> None:
    address = servers.up(home)["THENGA_ADMIN_DATABASE"]
    with psycopg.connect(address) as busy:
        busy.execute("CREATE TEMP TABLE held AS SELECT 1")
        servers.stop(home, "postgres", signal.SIGKILL)
        servers.start(home, "postgres")

        with pytest.raises(psycopg.OperationalError):
            busy.execute("SELECT 1")
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_up_twice_changes_nothing(home: Path) -> None:
    reach, before = servers.up(home), servers.status(home)

    assert servers.up(home) == reach
    assert servers.status(home) == before
    assert (home / "env").stat().st_mode & 0o777 == 0o600
    assert (home / "state.json").stat().st_mode & 0o777 == 0o600


def test_the_file_of_settings_says_what_up_says(home: Path, settings: Settings) -> None:
    reach = servers.up(home)

    assert settings.database == reach["THENGA_DATABASE"]
    assert "{login}" in settings.database
    assert "{login}" in settings.system_database
    assert settings.nats_monitor == reach["THENGA_NATS_MONITOR"]


def test_the_servers_run_with_the_settings_that_are_declared(home: Path) -> None:
    with psycopg.connect(servers.up(home)["THENGA_ADMIN_DATABASE"]) as connection:
        shown = {
            name: str(
                (connection.execute("SELECT current_setting(%s)", [name]).fetchone() or "")[0]
            )
            for name in servers.POSTGRES_SETTINGS
        }
        encoding = connection.execute("SHOW server_encoding").fetchone()

    assert shown == servers.POSTGRES_SETTINGS
    assert encoding == ("UTF8",)


def test_a_wrong_password_is_refused_on_loopback(home: Path) -> None:
    address = servers.up(home)["THENGA_ADMIN_DATABASE"]
    _, _, place = address.rpartition("@")

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgresql://postgres:wrong@{place}")


def test_a_stranger_with_the_old_number_is_left_alone() -> None:
    stranger = processes.Process(os.getpid(), "another boot/1")

    processes.end(stranger, signal.SIGKILL, seconds=0.1)

    assert not processes.is_alive(stranger)


def test_the_doctor_finds_new_servers_healthy(settings: Settings) -> None:
    findings = doctor.examine(settings)

    assert [finding for finding in findings if not finding.ok] == []
    named = {finding.name: finding.found for finding in findings}
    assert named["jetstream sync"] == "always"
    assert named["logins"] == "not migrated yet"


def test_the_doctor_names_what_is_missing_and_shows_no_secret(settings: Settings) -> None:
    (nobody,) = processes.free_ports(1)
    broken = settings.model_copy(
        update={
            "nats": f"nats://127.0.0.1:{nobody}",
            "redis": f"redis://:{'hidden' * 3}@127.0.0.1:{nobody}/0",
            "production": True,
            "test_build": True,
        }
    )

    findings = doctor.examine(broken)

    faults = {finding.name: finding.found for finding in findings if not finding.ok}
    assert faults.keys() == {"build", "nats", "redis"}
    assert (faults["nats"], faults["redis"]) == REFUSED
    assert "hidden" not in doctor.render(findings)


def test_the_doctor_sees_a_login_above_row_security(settings: Settings) -> None:
    address = settings.admin_database.get_secret_value()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE ROLE mistaken LOGIN BYPASSRLS")
        found = {finding.name: finding for finding in doctor.examine(settings)}
        connection.execute("DROP ROLE mistaken")

    assert not found["logins"].ok
    assert "mistaken" in found["logins"].found


def test_doctor_objects_to_unsynced_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the ordinary tests run on; no deployment may."""
    for name in [name for name in os.environ if name.startswith("THENGA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("THENGA_UPLOAD_BYTES", "1000000")
    folder = tmp_path / "dev"
    admin = servers.up(folder, synced=False)["THENGA_ADMIN_DATABASE"]
    try:
        with psycopg.connect(admin) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'coconut' AS word")
        servers.stop(folder, "postgres", signal.SIGKILL)
        servers.start(folder, "postgres")
        with psycopg.connect(admin) as connection:
            kept = connection.execute("SELECT word FROM kept").fetchall()
        findings = doctor.examine(Settings(_env_file=folder / "env"))  # type: ignore[call-arg]
    finally:
        servers.remove(folder)

    assert kept == [("coconut",)]
    faults = {finding.name for finding in findings if not finding.ok}
    assert faults == {"fsync", "full_page_writes", "jetstream sync"}


def test_up_says_where_other_commands_find_its_settings(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["dev", "up", "--home", str(home)])

    said = capsys.readouterr().out
    assert f"settings for `thenga` are in {home / 'env'}" in said
    assert f"other commands read them with THENGA_HOME={home}" in said


def test_down_leaves_no_process(home: Path) -> None:
    servers.up(home)
    data = _state(home).postgres / "data"
    pids = [standing.pid for standing in servers.status(home).values()]

    servers.down(home)

    assert [processes.born(pid) for pid in pids if pid is not None] == [None] * len(servers.NAMES)
    assert processes.inside(data, "postgres") == []
    assert not any(standing.running for standing in servers.status(home).values())


def _tools(reach: dict[str, str]) -> str:
    secret = SecretStr(reach["THENGA_NATS_SECRET"])
    return secret_settings.address(reach["THENGA_NATS"], secret, accounts.TOOLS)


async def _publish(address: str) -> None:
    client = await asyncio.wait_for(nats.connect(address), 60)
    stream = client.jetstream()
    await stream.add_stream(name="kept", subjects=["kept.>"], storage=StorageType.FILE)
    await stream.publish("kept.word", b"coconut")
    await client.close()


async def _messages(address: str) -> int:
    client = await asyncio.wait_for(nats.connect(address), 60)
    found = await client.jetstream().stream_info("kept")
    await client.close()
    return found.state.messages
