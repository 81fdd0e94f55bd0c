"""Loads what a deployment brings along: the platform's templates and channels."""

from collections.abc import Sequence

from thenga.domains.notification.services import delivery, templates
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host


async def seed(host: Host, domains: Sequence[Domain]) -> None:
    """At deployment, as the system login. Loading the same content again changes nothing."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    scope = Scope(actor=SYSTEM, organization_id=OPERATOR)
    work = Work(host, "notification", scope, origin, login="notification_system")
    try:
        await templates.seed(work)
        await delivery.seed(work)
        await work.finish()
    finally:
        await work.close()
