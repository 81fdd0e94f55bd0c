"""Feature flags, made by the service as an operator would."""

from uuid import uuid4

from thenga.domains.administration.services import flags
from thenga.domains.administration.tables import FeatureFlag
from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


def by_staff(host: Host) -> Work:
    """A unit of work of somebody of the staff."""
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    user_id = uuid4()
    scope = Scope(actor=Actor(kind=ActorKind.USER, id=user_id), user_id=user_id, platform=True)
    work = Work(host, "administration", scope, origin)
    work.held_as = HeldAs.PLATFORM
    return work


async def flag(host: Host) -> FeatureFlag:
    """A flag that is off."""
    work = by_staff(host)
    made = await flags.create_flag(
        work,
        fields={
            "key": f"bid.f{uuid4().hex[:12]}",
            "description": "Explains prices",
            "variants": {"on": True, "off": False},
            "on_variant": "on",
            "off_variant": "off",
        },
        reason="made by a factory of tests",
    )
    await work.finish()
    return made
