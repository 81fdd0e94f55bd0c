"""The processes of compose.yaml on this machine, with the arguments and settings that it gives.

What must differ from containers stands in `Shipped.replaced`, whole.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests import composed
from tests.flows import engine
from tests.providers.messaging import MailServer
from tests.suites.processes import Child
from thenga.tooling.dev import cluster, nats_server, processes, servers
from thenga.tooling.dev.processes import NeverAnswered, Process, free_ports

_PORTS = ("postgres", "nats", "nats_monitor", "redis", "clamav", "api", "internal")
_SECONDS = 180.0


class Shipped(NamedTuple):
    """An installation of which the servers run."""

    folder: Path
    variables: Mapping[str, str]  # of its `.env`
    replaced: Mapping[str, str]  # what a container calls it, and what it is here
    ports: Mapping[str, int]
    led: str = ""  # a folder for the worker's PYTHONPATH (tests/providers/leading.py)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.ports['api']}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def here(self, text: str) -> str:
        for name, place in self.replaced.items():
            text = text.replace(name, place)
        return text

    def command(self, service: str) -> list[str]:
        parts = [self.here(part) for part in composed.command(service, dict(self.variables))]
        program = processes.find_program(parts[0], Path(sys.executable).parent)
        return [program, *(self._argument(part) for part in parts[1:])]

    def _argument(self, part: str) -> str:
        return {"0.0.0.0": "127.0.0.1", "8000": str(self.ports["api"])}.get(part, part)

    def environment(self, service: str) -> dict[str, str]:
        given = composed.environment(service, dict(self.variables))
        # PYTHONPATH is that of the image; the rest is what the engine gives any process.
        source = str(composed.ROOT / "src")
        return {name: self.here(value) for name, value in given.items()} | {
            "PYTHONPATH": source,
            "TMPDIR": str(self.folder),
        }

    def run(self, service: str) -> "subprocess.CompletedProcess[str]":
        """A service that does its work and ends."""
        return subprocess.run(
            self.command(service),
            env=self.environment(service),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )

    def child(self, service: str) -> Child:
        """A service that stays."""
        env = self.environment(service)
        if service == "worker" and self.led:
            env["PYTHONPATH"] += f":{self.led}:{composed.ROOT}"
        return Child(service, self.command(service), env, self.folder)

    def is_healthy(self, service: str) -> bool:
        """What the health check of the service answers."""
        test = composed.services()[service]["healthcheck"]["test"]
        port = ["--port", str(self.ports["api"])] if service == "api" else []
        program = processes.find_program(test[1], Path(sys.executable).parent)
        asked = subprocess.run(
            [program, *test[2:], *port],
            env=self.environment(service),
            cwd=self.folder,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        return asked.returncode == 0


@contextmanager
def shipped(
    folder: Path, relay: MailServer, written: Mapping[str, str], *, led: str = ""
) -> Iterator[Shipped]:
    """An installation with the variables of a `.env`; its servers run as compose.yaml has them."""
    ports = dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True))
    variables = {
        **written,
        "THENGA_SMTP_PORT": str(relay.port),
        "THENGA_SMTP_CA_NOTIFICATION": relay.ca_file,
    }
    named = ("postgres:5432", "nats:4222", "nats:8222", "redis:6379", "clamav:3310", "0.0.0.0:8001")
    own = [ports[n] for n in ("postgres", "nats", "nats_monitor", "redis", "clamav", "internal")]
    replaced = {
        **{f"{name}": f"127.0.0.1:{port}" for name, port in zip(named, own, strict=True)},
        "/var/lib/thenga": str(folder / "lib"),
        "/etc/thenga": str(folder / "etc"),
    }
    made = Shipped(folder, variables, replaced, ports, led)
    (folder / "etc/accounts").mkdir(parents=True)
    started: list[Process] = []
    try:
        _start_stores(made)
        started.append(_start_redis(made))
        yield made
    finally:
        for process in started:
            processes.end(process, signal.SIGTERM, seconds=30)
        servers.remove(folder / "dev")


def _start_stores(made: Shipped) -> None:
    """PostgreSQL and ClamAV as development has them, which test_containers.py compares."""
    home = made.folder / "dev"
    home.mkdir()
    secrets = dict.fromkeys(servers.SECRETS, "unused")
    state = servers.State(
        postgres=cluster.place(home),
        ports={name: made.ports[name] for name in servers.PORTS},
        secrets=secrets | {"admin": made.variables["THENGA_ADMIN_PASSWORD"]},
        synced=False,
        names=["postgres", "clamav"],
    )
    (home / "state.json").write_text(state.model_dump_json())
    servers.up(home)


def _start_redis(made: Shipped) -> Process:
    arguments = ["--bind", "127.0.0.1", "--port", str(made.ports["redis"])]
    command = made.command("redis")
    return processes.spawn(
        [*command, *arguments], log=made.folder / "redis.log", folder=made.folder
    )


def start_nats(made: Shipped) -> Process:
    """NATS with the configuration of compose.yaml; `nats-config` has written its accounts."""
    text = composed.compose()["configs"]["nats"]["content"]
    ports, data = made.ports, made.folder / "nats"
    for name, value in (
        ("port: 4222", f'host: "127.0.0.1"\nport: {ports["nats"]}'),
        ("http: 8222", f'http: "127.0.0.1:{ports["nats_monitor"]}"'),
        ('"/data"', f'"{data}"'),
    ):
        assert name in text
        text = text.replace(name, value)
    config = made.folder / "etc/nats.conf"
    config.write_text(text)
    program = processes.find_program("nats-server", Path(sys.executable).parent)
    process = processes.spawn(
        [program, "-c", str(config)], log=made.folder / "nats.log", folder=made.folder
    )
    if not processes.wait(lambda: nats_server.answers(ports["nats_monitor"]), _SECONDS):
        raise NeverAnswered((made.folder / "nats.log").read_text())
    return process


@contextmanager
def running(made: Shipped) -> Iterator[list[str]]:
    """Start all four commands; gives those that have ended well, or stay and say that they work."""
    started = []
    with ExitStack() as stack:
        for service in ("nats-config", "migrate"):
            done = made.run(service)
            assert done.returncode == 0, done.stderr
            started.append(service)
        nats = start_nats(made)
        stack.callback(processes.end, nats, signal.SIGTERM, seconds=30)
        for service in ("api", "worker"):
            child = made.child(service)
            stack.callback(child.kill)
            child.begin()
            child.await_ready(lambda service=service: made.is_healthy(service), _SECONDS)
            started.append(service)
        engine.know(made.folder, {"worker": made.environment("worker")})
        yield started
