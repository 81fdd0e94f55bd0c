"""Fifteen domains in one process: those that stand, and stubs that react to each other.

The stubs exist only in processes that are started from here: `python -m tests.suites.crowd` is a
worker, and `app` the application of an API process. `CROWD_BUG` plants two bugs in such a process.
"""

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI
from nats.aio.client import Client

from tests import meshes
from thenga import main, topology, worker
from thenga.kernel.db.pool_bound import Bound, Place
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.events import accounts, mesh
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router
from thenga.kernel.http.entrances import anyone

ALL = 15
STUBS = tuple(f"stub{number:02}" for number in range(ALL - len(topology.DOMAINS)))
# Sources of each stub, beside the clock that every domain follows; never itself.
READ = min(6, len(STUBS) - 1)
_PAUSE = "SELECT pg_sleep(0.02)"  # so that connections are held at the same time

_MIGRATION = """
from thenga.kernel.db.migrating import make_kernel_tables, make_series

revision = "{name}_0001"
down_revision = None
branch_labels = ("{name}",)
depends_on = None


def upgrade():
    make_kernel_tables("{name}")
    make_series("{name}")
"""


def sources(name: str) -> list[str]:
    """The stubs that come next, in a ring."""
    place = STUBS.index(name)
    return [STUBS[(place + step) % len(STUBS)] for step in range(1, READ + 1)]


def reads() -> accounts.Reads:
    known = meshes.reads()
    return {**known, **{name: [*sources(name), "organization"] for name in STUBS}}


def write_migrations(folder: Path) -> dict[str, Path]:
    """The migrations of each stub, in a folder of its own."""
    made = {name: folder / name / "migrations" for name in STUBS}
    for name, home in made.items():
        home.mkdir(parents=True)
        (home / f"{name}_0001.py").write_text(_MIGRATION.format(name=name))
    return made


class Seen(View):
    """Nothing but that it was answered."""

    domain: str


def _stub(name: str, folder: Path) -> Domain:
    reactions, jobs, routes = Reactions(name), Jobs(name), router("Stubs")

    for source in sources(name):

        async def hear(work: Work, envelope: Envelope) -> None:
            await next_number(work, "heard")
            await work.query(_PAUSE)

        hear.__name__ = f"hear_{source}"
        reactions.on_type(f"{source}.Happened.v1")(hear)

    @jobs.every(timedelta(minutes=1))
    async def look(work: Work) -> None:
        """As every domain has one that finds what is due."""

    async def see(
        work: Annotated[Work, anyone(lambda shared: shared.rules.auth_address)],
    ) -> Seen:
        await work.query(_PAUSE)
        return Seen(domain=name)

    see.__domain__ = name  # type: ignore[attr-defined]  # read by the door
    see.__name__ = f"see_{name}"
    routes.add_api_route(f"/{name}", see, methods=["GET"])
    return Domain(name, folder / name, routers=[routes], reactions=reactions, jobs=jobs)


def gather() -> None:
    """Let this process have all fifteen, and the bugs that it was asked for."""
    folder = Path(os.environ["CROWD_HOME"])
    made = {name: _stub(name, folder) for name in STUBS}
    load = topology.load

    def load_all(names: Sequence[str]) -> list[Domain]:
        standing = load([name for name in names if name not in made])
        return [*standing, *(made[name] for name in names if name in made)]

    topology.DOMAINS = (*topology.DOMAINS, *STUBS)  # type: ignore[assignment]  # a fixed length
    topology.load = load_all
    if os.environ.get("CROWD_BUG"):
        _plant()


def _plant() -> None:
    """Pools that ignore their bound, and runners that open connections of their own."""

    async def own(link: mesh.Link) -> Client:
        return await mesh.connect(link._settings, link._login)

    def boundless(bound: Bound) -> Place:
        return Place()

    mesh.Link.client = own  # type: ignore[method-assign]
    Bound.place = boundless  # type: ignore[method-assign]
    Bound.may_lend = lambda *_: True  # type: ignore[method-assign]
    Bound.is_exceeded = False  # type: ignore[assignment,method-assign]


def app() -> FastAPI:
    gather()
    return main.app()


if __name__ == "__main__":
    gather()
    worker.main()
