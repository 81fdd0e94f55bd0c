"""The database of the domain of stalls, as tests need it."""

from uuid import UUID

from tests.stalls import MIGRATIONS
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings


def migrate_stalls(settings: Settings) -> None:
    """Make the tables; repeatable."""
    migrate(settings, [Migrated("stalls", MIGRATIONS)])


def work_for(host: Host, organization_id: UUID) -> Work:
    """A unit of work of one organization."""
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    return Work(host, "stalls", scope, Origin("test", "test-request", "test-request"))
