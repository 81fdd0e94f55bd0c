"""What a domain listens to: its reactions, the sandbox clock, and changes of its settings."""

from datetime import timedelta
from uuid import UUID

import structlog

from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reaction, SandboxCheck

log = structlog.get_logger()


async def follow_sandbox_clock(
    work: Work, envelope: Envelope, is_sandbox: "SandboxCheck | None" = None
) -> None:
    """Keep how far a sandbox organization's clock runs ahead; an older move changes nothing.

    Only a sandbox has a clock, and the domain's own rows say which is one (SEC-63).
    """
    organization_id = UUID(envelope.data["organizationId"])
    ahead = timedelta(seconds=envelope.data["aheadSeconds"])
    if ahead < timedelta(0):
        raise ValueError("a sandbox clock moves forward only")
    await work.enter_organization(organization_id)
    if is_sandbox is not None and not await is_sandbox(work):
        log.error("events.clock.refused", domain=work.domain, organization_id=str(organization_id))
        return
    await work.run(
        f"INSERT INTO {work.domain}.clock_offset AS known (organization_id, ahead, sequence) "
        f"VALUES ($1, $2, $3) ON CONFLICT (organization_id) DO UPDATE "
        f"SET ahead = EXCLUDED.ahead, sequence = EXCLUDED.sequence "
        f"WHERE known.sequence < EXCLUDED.sequence",
        organization_id,
        ahead,
        envelope.sequence or 0,
    )


# Every domain has this one, and the kernel knows no domain: hence the type as text. The name is one
# that no function of a domain can have.
def _follow_clock(is_sandbox: "SandboxCheck | None") -> Reaction:
    async def handle(work: Work, envelope: Envelope) -> None:
        await follow_sandbox_clock(work, envelope, is_sandbox)

    return Reaction("kernel.follow_sandbox_clock", "organization.SandboxClockMoved.v1", handle)


def by_source(domain: Domain) -> dict[str, list[Reaction]]:
    """What a domain listens to, by the domain that tells it; the sandbox clock always."""
    found: dict[str, list[Reaction]] = {}
    own = domain.reactions
    clock = _follow_clock(own.is_sandbox if own else None)
    for reaction in (*(own.all if own else ()), clock, *configuration.reactions_of(domain)):
        found.setdefault(reaction.source, []).append(reaction)
    return found
