"""PostgreSQL, NATS, Redis and ClamAV of one's own, on free ports, kept in one folder.

They keep data as production must: a commit that was answered is on the disk. What they were given
(ports, passwords, processes) is in `state.json`; `env` holds the same as settings of Thenga.
"""

import fcntl
import os
import secrets
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psycopg
from pydantic import BaseModel

from thenga.kernel.events import accounts
from thenga.tooling.dev import clamav, cluster, nats_server, processes
from thenga.tooling.dev.processes import NeverAnswered, Process

NAMES = ("postgres", "nats", "redis", "clamav")
PORTS = ("postgres", "nats", "nats_monitor", "redis", "clamav")
ACCOUNTS = "nats-accounts.conf"
DATABASE = "thenga"
SECRETS = ("admin", "application", "system", "nats", "internal", "sealing", "lookup")
POSTGRES_VERSION = 15  # the oldest we write for, and the one of the containers
POSTGRES_SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_connections": "400",
    "shared_buffers": "256MB",
    "password_encryption": "scram-sha-256",
}
NATS_JETSTREAM = {
    "sync_interval": "always",
    "max_file_store": "8GB",
    "max_memory_store": "256MB",
}
# Of servers that a test run throws away: what a killed process had acknowledged is still kept, and
# only a machine that loses its power could lose it.
UNSYNCED = {
    "postgres": {"fsync": "off", "full_page_writes": "off"},
    "nats": {"sync_interval": "2m"},
}
REDIS_SETTINGS = {"save": "", "appendonly": "no"}

_GENTLY = dict.fromkeys(NAMES, signal.SIGTERM) | {"postgres": signal.SIGINT}
_SECONDS = 30.0


class State(BaseModel):
    """What must outlive a command; the file is for its owner's eyes."""

    postgres: Path  # folder of the cluster; elsewhere if its user cannot come in here
    ports: dict[str, int]
    secrets: dict[str, str]
    processes: dict[str, Process] = {}
    synced: bool = True
    names: list[str] = list(NAMES)  # those that `up` starts

    def unsynced(self, name: str) -> dict[str, str]:
        return {} if self.synced else UNSYNCED[name]

    def is_running(self, name: str) -> bool:
        process = self.processes.get(name)
        return process is not None and processes.is_alive(process)


class Standing(NamedTuple):
    """How one server is."""

    running: bool
    pid: int | None
    port: int


def up(
    home: Path,
    reads: accounts.Reads | None = None,
    *,
    synced: bool = True,
    names: Sequence[str] = NAMES,
) -> dict[str, str]:
    """Start what is not running, wait until it answers, and give the settings that reach it.

    `reads` says which domains have an account in NATS and what each of them reads; without it
    the accounts stay as they are. New servers that are not `synced` are for tests that lose no
    power (`UNSYNCED`), and may be some of all. If one of them does not start, those that this
    call has started are stopped again.
    """
    with _alone(home) as home:
        state = _load(home) or _new(home, synced, names)
        _write_accounts(home, state, reads)
        dead = [name for name in state.names if not state.is_running(name)]
        _renew_ports(state, dead)
        _start_all(home, state, dead)
        settings = environment(home, state)
        _write(home / "env", "".join(f"{name}={value}\n" for name, value in settings.items()))
        return settings


def down(home: Path) -> None:
    """Stop the servers of this folder and no others; the data stays for the next time."""
    with _alone(home) as home:
        state = _load(home)
        if state is not None:
            _end(home, state, NAMES)


def remove(home: Path) -> None:
    """Stop the servers and forget their data."""
    down(home)
    with _alone(home) as home:
        state = _load(home)
        if state is None:
            return
        # One by one: the folder may hold what is not ours.
        for name in ("nats", "redis", "clamav", "files"):
            shutil.rmtree(home / name, ignore_errors=True)
        shutil.rmtree(state.postgres, ignore_errors=True)
        for name in (
            "env",
            "state.json",
            "nats.conf",
            ACCOUNTS,
            *(f"{each}.log" for each in NAMES),
        ):
            (home / name).unlink(missing_ok=True)


def status(home: Path) -> dict[str, Standing]:
    """How each server is; empty where none was ever started."""
    state = _load(home.resolve())
    if state is None:
        return {}
    alive = {name: state.processes[name].pid for name in NAMES if state.is_running(name)}
    return {name: Standing(name in alive, alive.get(name), state.ports[name]) for name in NAMES}


def start(home: Path, name: str) -> None:
    """Start one server again on its own port and data, and wait until it answers."""
    with _alone(home) as home:
        state = _known(home)
        if not state.is_running(name):
            _start_again(home, state, name)


def _start_again(home: Path, state: State, name: str) -> None:
    """A port that was given up a moment ago may not be free yet, so a failed start is repeated."""
    for pause in (0.3, 1.0, 3.0):
        with suppress(NeverAnswered):
            _start_all(home, state, [name])
            return
        time.sleep(pause)
    _start_all(home, state, [name])


def stop(home: Path, name: str, number: signal.Signals | None = None) -> None:
    """End one server, gently or by a given signal that ends it, and wait until it is gone."""
    with _alone(home) as home:
        process = _known(home).processes.get(name)
        if process is not None:
            processes.end(process, number or _GENTLY[name], seconds=10)


def environment(home: Path, state: State) -> dict[str, str]:
    """The settings that reach these servers; the application fills in `{login}`."""
    ports, secret = state.ports, state.secrets
    return {
        "THENGA_DATABASE": _address(state, "{login}", "{password}"),
        "THENGA_DATABASE_SECRET": secret["application"],
        "THENGA_SYSTEM_DATABASE": _address(state, "{login}", "{password}"),
        "THENGA_SYSTEM_DATABASE_SECRET": secret["system"],
        "THENGA_ADMIN_DATABASE": _address(state, "postgres", secret["admin"]),
        "THENGA_NATS": f"nats://{{login}}:{{password}}@127.0.0.1:{ports['nats']}",
        "THENGA_NATS_SECRET": secret["nats"],
        "THENGA_NATS_MONITOR": f"http://127.0.0.1:{ports['nats_monitor']}",
        "THENGA_REDIS": f"redis://127.0.0.1:{ports['redis']}/0",
        "THENGA_FILES": str(home / "files"),
        "THENGA_SCANNER": f"127.0.0.1:{ports['clamav']}",
        "THENGA_INTERNAL_SECRET": secret["internal"],
        "THENGA_SEALING_KEY": secret["sealing"],
        "THENGA_LOOKUP_KEY": secret["lookup"],
        "THENGA_SMTP_SECURITY": "none",  # the mail server of development has no certificate
    }


def _address(state: State, login: str, password: str, database: str = DATABASE) -> str:
    port = state.ports["postgres"]
    return f"postgresql://{login}:{password}@127.0.0.1:{port}/{database}"


def _admin(state: State) -> str:
    return _address(state, "postgres", state.secrets["admin"], "postgres")


# What is remembered


@contextmanager
def _alone(home: Path) -> Iterator[Path]:
    """One command at a time in a folder; gives its resolved path."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield home.resolve()


def _new(home: Path, synced: bool, names: Sequence[str]) -> State:
    if (home / "postgres").exists():
        raise RuntimeError(f"{home} holds data without its state.json; remove the folder first")
    return State(
        postgres=cluster.place(home),
        ports=dict(zip(PORTS, processes.free_ports(len(PORTS)), strict=True)),
        secrets={name: secrets.token_hex(32) for name in SECRETS},
        synced=synced,
        names=list(names),
    )


def _known(home: Path) -> State:
    state = _load(home)
    if state is None:
        raise RuntimeError(f"no servers were ever started in {home}")
    return state


def _load(home: Path) -> State | None:
    path = home / "state.json"
    if not path.exists():
        return None
    state = State.model_validate_json(path.read_text())
    for name in SECRETS:  # a folder of an older version lacks those that came later
        state.secrets.setdefault(name, secrets.token_hex(32))
    for name in PORTS:
        state.ports.setdefault(name, processes.free_ports(1)[0])
    return state


def _save(home: Path, state: State) -> None:
    _write(home / "state.json", state.model_dump_json(indent=2))


def _write(path: Path, text: str) -> None:
    """Write a file with secrets: whole or not at all, and for its owner only."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    partial.write_text(text)
    partial.replace(path)


def _renew_ports(state: State, dead: list[str]) -> None:
    """A port that somebody else has taken meanwhile is given up for another."""
    for name, port in state.ports.items():
        if name.partition("_")[0] in dead and not processes.is_free(port):
            state.ports[name] = processes.free_ports(1)[0]


# Starting


def _start_all(home: Path, state: State, names: Sequence[str]) -> None:
    """Start these servers and wait until they answer; if one does not, stop them all again."""
    try:
        for name in names:
            _launch(home, state, name)
        for name in names:
            _await(home, state, name)
        if "postgres" in names:
            _make_database(state)
    except BaseException:
        _end(home, state, names)
        raise


def _launch(home: Path, state: State, name: str) -> None:
    launch = _LAUNCH[name]
    _save(home, state)  # before there is anything that could be lost track of
    state.processes[name] = launch(home, state)
    _save(home, state)


def _await(home: Path, state: State, name: str) -> None:
    answers = _ANSWERS[name]
    # Asked once more, a server that has just answered may answer too late on a busy machine.
    answered = processes.wait(lambda: not state.is_running(name) or answers(state), _SECONDS)
    if not (answered and state.is_running(name)):
        raise NeverAnswered(f"{name} does not answer; read {home / name}.log")


def _end(home: Path, state: State, names: Sequence[str]) -> None:
    for name in names:
        process = state.processes.pop(name, None)
        if process is not None:
            processes.end(process, _GENTLY[name], seconds=10)
    if "postgres" in names:
        cluster.clear(state.postgres)
    _save(home, state)


def _launch_postgres(home: Path, state: State) -> Process:
    data = state.postgres / "data"
    if not data.exists():
        cluster.make(state.postgres, state.secrets["admin"])
    cluster.clear(state.postgres)
    settings = {
        **POSTGRES_SETTINGS,
        **state.unsynced("postgres"),
        "listen_addresses": "127.0.0.1",
        "port": str(state.ports["postgres"]),
        "unix_socket_directories": str(state.postgres / "socket"),
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return processes.spawn(
        [cluster.find_program("postgres"), "-D", str(data), *options],
        log=home / "postgres.log",
        folder=data,
        user=cluster.user(),
    )


def _launch_nats(home: Path, state: State) -> Process:
    jetstream = NATS_JETSTREAM | state.unsynced("nats")
    listens = (state.ports["nats"], state.ports["nats_monitor"])
    return nats_server.launch(home, listens, jetstream, ACCOUNTS)


def _write_accounts(home: Path, state: State, reads: accounts.Reads | None) -> None:
    path = home / ACCOUNTS
    if reads is None and path.exists():
        return
    text = accounts.config(reads or {}, state.secrets["nats"])
    known = path.exists()
    if known and path.read_text() == text:
        return
    _write(path, text)
    if state.is_running("nats") and known:
        os.kill(state.processes["nats"].pid, signal.SIGHUP)  # it reads its accounts again
    elif state.is_running("nats"):  # of an older version, which had none
        processes.end(state.processes.pop("nats"), _GENTLY["nats"], seconds=10)


def _launch_redis(home: Path, state: State) -> Process:
    folder = home / "redis"
    folder.mkdir(exist_ok=True)
    settings = {
        **REDIS_SETTINGS,
        "bind": "127.0.0.1",
        "port": str(state.ports["redis"]),
        "dir": str(folder),
    }
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    server = processes.find_program("redis-server")
    return processes.spawn([server, *options], log=home / "redis.log", folder=folder)


def _launch_clamav(home: Path, state: State) -> Process:
    return clamav.launch(home / "clamav", state.ports["clamav"], home / "clamav.log")


def _postgres_answers(state: State) -> bool:
    try:
        psycopg.connect(_admin(state), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_answers(state: State) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", state.ports["redis"]), timeout=2) as link:
            link.sendall(b"PING\r\n")
            return link.recv(64).startswith(b"+PONG")
    except OSError:
        return False


_LAUNCH: dict[str, Callable[[Path, State], Process]] = {
    "postgres": _launch_postgres,
    "nats": _launch_nats,
    "redis": _launch_redis,
    "clamav": _launch_clamav,
}
_ANSWERS: dict[str, Callable[[State], bool]] = {
    "postgres": _postgres_answers,
    "nats": lambda state: nats_server.answers(state.ports["nats_monitor"]),
    "redis": _redis_answers,
    "clamav": lambda state: clamav.answers(state.ports["clamav"]),
}


def _make_database(state: State) -> None:
    with psycopg.connect(_admin(state), autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if known.fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
