"""The console command `thenga`.

Each command imports what it needs when it runs: `where` and `--help` must not wait for the
framework, and must work while a domain is broken.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import thenga

ROOT = Path(thenga.__file__).resolve().parents[2]

Run = Callable[[argparse.Namespace], int]
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the exit code is 0 when all is well."""
    asked = _parser().parse_args(arguments)
    run: Run = asked.run
    sys.exit(run(asked))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thenga",
        description="Runs, examines and documents the platform.",
        epilog="To begin: `thenga dev up`, `thenga migrate`, `thenga api` and `thenga worker`.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_running(commands)
    _add_reading(commands)
    return parser


def _add_running(commands: Commands) -> None:
    dev = _add(commands, "dev", _dev, "PostgreSQL, NATS, Redis and ClamAV of one's own, in `.dev`")
    dev.add_argument(
        "action",
        choices=("up", "down", "status", "remove"),
        help="up: start what is not running; down: stop, the data stays; "
        "status: what runs where; remove: stop and forget the data",
    )
    dev.add_argument("--home", type=Path, help="another folder (default: $THENGA_HOME or .dev)")
    _add(commands, "migrate", _migrate, "bring logins, schemas and catalogues up to date")
    api = _add(commands, "api", _api, "serve the API of the domains in THENGA_DOMAINS, or of all")
    api.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    api.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    _add(commands, "worker", _worker, "carry events, react to them, seal the audit and do jobs")
    _add(commands, "reseal", _reseal, "seal what former keys sealed under the present one")
    sandbox = _add(commands, "sandbox", _sandbox, "serve the provider that sandboxes pay with")
    sandbox.add_argument("--port", type=int, default=8017, help="on loopback (%(default)s)")
    mesh = _add(commands, "nats-config", _nats_config, "write the accounts of NATS, a domain each")
    mesh.add_argument("output", type=Path, help="file for `include` in nats.conf; it has secrets")
    _add(commands, "doctor", _doctor, "examine this installation; exit 1 if something is not right")


def _add_reading(commands: Commands) -> None:
    _add(commands, "openapi", _openapi, "print the OpenAPI document; needs no server")
    _add(commands, "events", _events, "print the AsyncAPI document; needs no server")
    where = _add(commands, "where", _where, "find a name in the source: file, line and uses")
    where.add_argument(
        "query",
        metavar="QUERY",
        help="a path (/billing/plans), problem code, event type or name, permission, "
        "number of a rule, function or class",
    )
    docs = _add(commands, "docs", _docs, "write the pages of docs/ that are made from the code")
    docs.add_argument("--check", action="store_true", help="write nothing; exit 1 if they differ")


def _add(commands: Commands, name: str, run: Run, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    return parser


def _dev(asked: argparse.Namespace) -> int:
    from thenga.tooling.dev import servers

    home = asked.home or servers.default_home()
    if asked.action == "up":
        servers.up(home, _reads())
        print(f"settings for `thenga` are in {home / 'env'}")
    elif asked.action == "down":
        servers.down(home)
    elif asked.action == "remove":
        servers.remove(home)
    standing = servers.status(home)
    for name, one in standing.items():
        state = f"running, process {one.pid}" if one.running else "stopped"
        print(f"{name:<9} port {one.port:<6} {state}")
    if not standing:
        print(f"no servers in {home}")
    return 0


def _reads() -> dict[str, Sequence[str]]:
    """Which domain reads whose events, by the manifests."""
    from thenga import topology
    from thenga.kernel.events import accounts

    return dict(accounts.reads_of(topology.load(topology.DOMAINS)))


def _nats_config(asked: argparse.Namespace) -> int:
    from thenga.kernel import secret_settings
    from thenga.kernel.events import accounts
    from thenga.kernel.settings import load

    secret = load().nats_secret.get_secret_value()
    secret_settings.check_one(secret_settings.Secret("THENGA_NATS_SECRET", secret))
    asked.output.unlink(missing_ok=True)
    asked.output.touch(mode=0o600)
    asked.output.write_text(accounts.config(_reads(), secret))
    return 0


def _migrate(_: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel import starting
    from thenga.kernel.db.migrate import Migrated, migrate
    from thenga.kernel.declare.manifest import Domain
    from thenga.kernel.settings import load
    from thenga.kernel.starting import make_host

    settings = load()
    domains = topology.load(topology.names_here(settings))
    starting.check(settings, domains)

    async def seed(seeding: Sequence[Domain]) -> None:
        host = make_host(settings)
        try:
            for domain in seeding:
                await domain.at_deployment(host, domains)
        finally:
            await host.engines.close()

    for name in migrate(settings, [Migrated(d.name, d.migrations, d.gate) for d in domains]):
        print(f"{name} is up to date")
    asyncio.run(seed([domain for domain in domains if domain.at_deployment is not None]))
    return 0


def _api(asked: argparse.Namespace) -> int:
    from thenga.kernel.http.serving import serve
    from thenga.kernel.settings import load

    serve(load(), host=asked.host, port=asked.port)
    return 0


def _worker(_: argparse.Namespace) -> int:
    from thenga import worker

    worker.main()
    return 0


def _sandbox(asked: argparse.Namespace) -> int:
    import uvicorn

    from thenga import topology
    from thenga.domains.billing.adapters.providers import sandbox_secret
    from thenga.domains.billing.adapters.sandbox_server import SandboxServer
    from thenga.kernel import starting
    from thenga.kernel.settings import load
    from thenga.kernel.starting import make_host

    settings = load()
    starting.check(settings, topology.load(["billing"]))
    host = make_host(settings, system_logins=False)
    server = SandboxServer(
        secret=sandbox_secret(host),
        base_url=f"http://127.0.0.1:{asked.port}",
        notify_base=host.settings.base_url,
        now=host.now,
    )
    uvicorn.run(server.app, host="127.0.0.1", port=asked.port, log_level="warning")
    return 0


def _reseal(_: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel import starting
    from thenga.kernel.db import sealed
    from thenga.kernel.settings import load
    from thenga.kernel.starting import make_host

    settings = load()
    domains = topology.load(topology.names_here(settings))
    starting.check(settings, domains)

    async def reseal() -> int:
        host = make_host(settings)
        try:
            for domain in domains:
                print(f"{domain.name}: {await sealed.reseal(host, domain.name)} values resealed")
            return sum([await sealed.waiting(host, domain.name) for domain in domains])
        finally:
            await host.engines.close()

    left = asyncio.run(reseal())
    print("former keys can be removed" if not left else f"{left} values left; run it again")
    return 1 if left else 0


def _doctor(_: argparse.Namespace) -> int:
    from thenga.kernel.settings import load
    from thenga.tooling.dev import doctor

    findings = doctor.examine(load())
    print(doctor.render(findings))
    return 0 if all(finding.ok for finding in findings) else 1


def _openapi(_: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.http.openapi import document
    from thenga.kernel.http.operations import mounted

    domains = topology.load(topology.DOMAINS)
    _print_json(document(mounted(domains).routes, domains))
    return 0


def _events(_: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.events.catalogue import asyncapi

    _print_json(asyncapi(topology.load(topology.DOMAINS)))
    return 0


def _where(asked: argparse.Namespace) -> int:
    from thenga.tooling.documents.where import where

    lines = where(asked.query, ROOT)
    print("\n".join(lines) or f"{asked.query} is nowhere in the source")
    return 0 if lines else 1


def _docs(asked: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.tooling.documents import writing
    from thenga.tooling.documents.snapshots import Promised

    folder, domains = ROOT / "docs", topology.load(topology.DOMAINS)
    do = writing.stale if asked.check else writing.write
    try:
        paths = do(folder, domains)
    except Promised as refusal:
        print(refusal, file=sys.stderr)
        return 1
    for path in paths:
        print(f"docs/{path} {'differs; run `thenga docs`' if asked.check else 'written'}")
    return 1 if asked.check and paths else 0


def _print_json(value: dict[str, object]) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
