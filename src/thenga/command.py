"""The console command `thenga`.

Each command imports what it needs when it runs: `where` and `--help` must not wait for the
framework, and must work while a domain is broken.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import thenga

if TYPE_CHECKING:
    from thenga.kernel.declare.manifest import Domain
    from thenga.kernel.process.host import Host
    from thenga.kernel.process.settings import Settings

ROOT = Path(thenga.__file__).resolve().parents[2]

Run = Callable[[argparse.Namespace], int]
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the exit code is 0 on success."""
    asked = _parser().parse_args(arguments)
    run: Run = asked.run
    sys.exit(_refusing(run, asked))


def _refusing(run: Run, asked: argparse.Namespace) -> int:
    """The exit code of a command; a setting that cannot be used is a line and 2."""
    try:
        return run(asked)
    except RuntimeError as error:
        from thenga.kernel.process.settings import SettingRefused

        if not isinstance(error, SettingRefused):
            raise
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thenga",
        description="Run, inspect and document the platform.",
        epilog="To start: `thenga dev up`, `thenga migrate`, `thenga api` and `thenga worker`.",
    )
    parser.add_argument("--version", action="version", version=f"thenga {thenga.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_running(commands)
    _add_operating(commands)
    _add_reading(commands)
    return parser


def _add_running(commands: Commands) -> None:
    dev = _add(
        commands, "dev", _dev, "manage a private PostgreSQL, NATS, Redis and ClamAV in `.dev`"
    )
    dev.add_argument(
        "action",
        choices=("up", "down", "status", "remove", "sample"),
        help="up: start the servers; down: stop them and keep the data; "
        "status: show what is running; remove: stop them and delete the data; "
        "sample: have a running worker load sample tenders",
    )
    dev.add_argument(
        "--home", type=Path, help="folder of the servers (default: $THENGA_HOME or .dev)"
    )
    _add(commands, "migrate", _migrate, "update logins, schemas and catalogues")
    made = _add(
        commands, "migrations", _migrations, "write the next migration of a domain from its tables"
    )
    made.add_argument("action", choices=("make",), help="make: compare with the migrated database")
    made.add_argument("domain", help="domain whose row classes have changed")
    api = _add(
        commands, "api", _api, "serve the API of the domains in THENGA_DOMAINS (default: all)"
    )
    api.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    api.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    _add(
        commands, "worker", _worker, "publish events, run reactions and jobs, seal the audit trail"
    )
    sandbox = _add(
        commands, "sandbox", _sandbox, "serve the payment provider for sandbox organizations"
    )
    sandbox.add_argument("--port", type=int, default=8017, help="port on 127.0.0.1 (%(default)s)")
    mesh = _add(
        commands, "nats-config", _nats_config, "write the NATS accounts, one for each domain"
    )
    mesh.add_argument("output", type=Path, help="file to `include` in nats.conf; contains secrets")


def _add_operating(commands: Commands) -> None:
    _add(commands, "reseal", _reseal, "re-encrypt sealed values with the current key")
    staff = _add(
        commands, "staff", _staff, "invite the first staff, until every platform role has a holder"
    )
    staff.add_argument("action", choices=("invite",), help="invite: send a letter to a person")
    staff.add_argument("address", help="email address of the person")
    staff.add_argument(
        "--role", action="append", required=True, dest="roles", help="platform role; repeatable"
    )
    seller = _add(commands, "seller", _seller, "set the seller that is printed on tax invoices")
    seller.add_argument("action", choices=("set",), help="set: from the day that FILE names")
    seller.add_argument(
        "file", type=Path, help="JSON or TOML, or - to read it; see docs/tour-operators.md"
    )
    _add(commands, "doctor", _doctor, "check this installation; exit 1 if there is a problem")
    health = _add(commands, "health", _health, "exit 0 if a process of this machine works")
    health.add_argument("process", choices=("api", "worker"))
    health.add_argument("--port", type=int, default=8000, help="port of the API (%(default)s)")
    fresh = _add(commands, "secrets", _secrets, "write the settings of a new installation")
    fresh.add_argument(
        "output",
        nargs="?",
        default=".env",
        help="new file, or - to print them; a file that exists stays as it is (%(default)s)",
    )


def _add_reading(commands: Commands) -> None:
    openapi = _add(commands, "openapi", _openapi, "print the OpenAPI document; needs no server")
    openapi.add_argument("--lean", action="store_true", help="without examples, for generators")
    openapi.add_argument("--domain", help="only the operations of this domain")
    _add(commands, "events", _events, "print the AsyncAPI document; needs no server")
    prebuild = _add(
        commands,
        "prebuild",
        _prebuild,
        "make the documents that `thenga api` serves, once for each state of the source",
    )
    prebuild.add_argument("--to", type=Path, help="another folder (default: in the package)")
    where = _add(commands, "where", _where, "find a name in the source, with file, line and uses")
    where.add_argument(
        "query",
        metavar="QUERY",
        help="a path (/billing/plans), operation (billing.plans.list), problem code, event type "
        "or name, permission, rule number, function or class",
    )
    docs = _add(commands, "docs", _docs, "write the generated pages of docs/")
    docs.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a page is out of date"
    )


def _add(commands: Commands, name: str, run: Run, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    return parser


def _dev(asked: argparse.Namespace) -> int:
    from thenga.kernel.process.settings import HOME
    from thenga.tooling.dev import servers

    home = asked.home or HOME
    if asked.action == "sample":
        return _sample()
    if asked.action == "up":
        servers.up(home, _reads())
        print(f"settings for `thenga` are in {home / 'env'}")
        if home != HOME:
            print(f"other commands read them with THENGA_HOME={home}")
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


def _sample() -> int:
    """Hand over the sample tenders as any upload of releases; done again, nothing changes."""
    from thenga.sample import Result, load_sample
    from thenga.starting import make_host

    settings = _settings()

    async def hand_over() -> Result:
        host = make_host(settings)
        try:
            return await load_sample(host)
        finally:
            await host.engines.close()

    result = asyncio.run(hand_over())
    print(result.line)
    return 0 if result.is_loaded else 1


def _reads() -> dict[str, Sequence[str]]:
    """Which domain reads whose events, by the manifests."""
    from thenga import topology
    from thenga.kernel.events import accounts

    return dict(accounts.reads_of(topology.load(topology.DOMAINS)))


def _nats_config(asked: argparse.Namespace) -> int:
    from thenga.kernel.events import accounts
    from thenga.kernel.process import secret_settings

    secret = _settings().nats_secret.get_secret_value()
    secret_settings.check_one(secret_settings.Secret("THENGA_NATS_SECRET", secret))
    asked.output.unlink(missing_ok=True)
    asked.output.touch(mode=0o600)
    asked.output.write_text(accounts.config(_reads(), secret))
    return 0


def _settings() -> "Settings":
    """The settings of this process; names on standard error what nothing reads."""
    from thenga import starting, topology
    from thenga.kernel.process.settings import load

    settings = load()
    starting.check_given(settings)
    for line in starting.unknown(topology.environments()):
        print(f"warning: {line}", file=sys.stderr)
    return settings


def _with_domains() -> tuple["Settings", list["Domain"]]:
    """As `_settings`, and the domains of this process."""
    from thenga import topology

    settings = _settings()
    return settings, topology.load(topology.names_here(settings))


def _migrate(_: argparse.Namespace) -> int:
    from thenga import starting
    from thenga.kernel.db.migrate import Migrated, migrate
    from thenga.kernel.declare.manifest import Domain
    from thenga.starting import make_host

    settings, domains = _with_domains()
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


def _migrations(asked: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.db.migrate import Migrated
    from thenga.kernel.db.migrating.making import NotMigrated, make_migration

    (domain,) = topology.load([asked.domain])
    try:
        made = make_migration(_settings(), Migrated(domain.name, domain.migrations, domain.gate))
    except NotMigrated as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print(f"{made.path} is written; read it" if made.path else "nothing to write")
    for difference in made.by_hand:
        print(f"write by hand: {difference}")
    return 0


def _api(asked: argparse.Namespace) -> int:
    from thenga import main
    from thenga.kernel.http.serving import serve

    settings = _settings()
    serve(main.app(), settings, host=asked.host, port=asked.port)
    return 0


def _worker(_: argparse.Namespace) -> int:
    from thenga import worker

    _settings()
    worker.main()
    return 0


def _sandbox(asked: argparse.Namespace) -> int:
    import uvicorn

    from thenga import starting, topology
    from thenga.domains.billing.adapters.providers import sandbox_secret
    from thenga.domains.billing.adapters.sandbox_server import SandboxServer
    from thenga.starting import make_host

    settings = _settings()
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
    from thenga import starting
    from thenga.kernel.db import sealed
    from thenga.starting import make_host

    settings, domains = _with_domains()
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
    print("old keys can be removed" if not left else f"{left} values left; run the command again")
    return 1 if left else 0


def _staff(asked: argparse.Namespace) -> int:
    from thenga.domains.identity.services import first_staff

    async def invite(host: "Host") -> str:
        return await first_staff.invite(host, address=asked.address, role_codes=asked.roles)

    return _at_console("identity", invite, refused=1)


def _seller(asked: argparse.Namespace) -> int:
    from thenga.domains.billing.services import plan_admin

    async def set_seller(host: "Host") -> str:
        return await plan_admin.set_seller(host, asked.file)

    return _at_console("billing", set_seller, refused=2)


def _at_console(domain: str, change: "Callable[[Host], Awaitable[str]]", *, refused: int) -> int:
    """Make one change at the console and print its outcome; a refusal is one line."""
    from thenga import starting, topology
    from thenga.kernel.errors import Problem
    from thenga.starting import make_host

    settings = _settings()
    starting.check(settings, topology.load([domain]))

    async def run() -> str:
        host = make_host(settings)
        try:
            return await change(host)
        finally:
            await host.engines.close()

    try:
        print(asyncio.run(run()))
    except Problem as refusal:
        print(refusal.detail, file=sys.stderr)
        return refused
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from thenga.tooling.dev import doctor, running

    settings, domains = _with_domains()
    findings = [*doctor.examine(settings), *running.examine(settings, domains)]
    print(doctor.render(findings))
    return 0 if all(finding.ok for finding in findings) else 1


def _health(asked: argparse.Namespace) -> int:
    from thenga.kernel.process import health

    fault = health.worker_fault() if asked.process == "worker" else health.api_fault(asked.port)
    print(fault or f"the {asked.process} works")
    return 0 if fault is None else 1


def _secrets(asked: argparse.Namespace) -> int:
    from thenga.tooling import env_file

    example = (ROOT / ".env.example").read_text()
    if asked.output == "-":
        print(env_file.filled(example), end="")
        return 0
    try:
        env_file.write(Path(asked.output), example)
    except FileExistsError:
        print(f"{asked.output} exists and stays as it is: its keys open what it sealed")
        return 1
    print(f"{asked.output} has fresh secrets; fill in what is required, and keep a copy of it")
    return 0


def _openapi(asked: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.http.document.openapi import document
    from thenga.kernel.http.document.operations import mounted
    from thenga.kernel.process.settings import load

    domains, settings = topology.load(topology.DOMAINS), load()
    made = document(
        mounted(domains).routes,
        domains,
        base_url=settings.base_url,
        sandbox_url=settings.sandbox_url,
        examples=not asked.lean,
        domain=asked.domain,
    )
    _print_json(made)
    return 0


def _events(_: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.events.catalogue import asyncapi

    _print_json(asyncapi(topology.load(topology.DOMAINS)))
    return 0


def _prebuild(asked: argparse.Namespace) -> int:
    from thenga import topology
    from thenga.kernel.http.document import published

    published.write(asked.to or published.KEPT, topology.load(topology.DOMAINS))
    return 0


def _where(asked: argparse.Namespace) -> int:
    from thenga.tooling.documents.where import where

    lines = where(asked.query, ROOT)
    print("\n".join(lines) or f"{asked.query} was not found in the source")
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
