"""What Identity does later and what time does in it."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.identity.adapters.mail import Letter, Mail
from thenga.domains.identity.services import auth, memberships
from thenga.domains.identity.tables import RoleAssignment
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.declare import Jobs
from thenga.kernel.jobs.due import due
from thenga.kernel.jobs.run import Run

jobs = Jobs("identity")


@jobs.carries_out(auth.deliver_link)
async def deliver_link(run: Run, *, link_hash: str) -> None:
    """Hand the letter over, then forget its text (IDN-10)."""
    digest = bytes.fromhex(link_hash)
    async with run.reading() as read:
        link = await auth.link_to_deliver(read, digest)
    if link is None:
        return
    await run.adapter(Mail).send(_letter(link), key=run.key)
    async with run.working() as work:
        await auth.mark_delivered(work, digest)


@jobs.every(timedelta(seconds=10))
async def end_due_assignments(work: Work) -> None:
    """Each role that is over is written down in its own job."""
    for organization_id, assignment_id in await due(work, RoleAssignment, limit=500):
        work.enqueue(
            end_assignment, organization_id=organization_id, role_assignment_id=assignment_id
        )


@jobs.queued(key="{role_assignment_id}")
async def end_assignment(work: Work, *, role_assignment_id: UUID) -> None:
    await memberships.expire_assignment(work, role_assignment_id)


@jobs.every(timedelta(hours=1))
async def purge_secrets(work: Work) -> None:
    """Tokens and links that are long over are taken away, a thousand at a time."""
    await auth.purge(work, limit=1000)


def _letter(link: auth.LinkToDeliver) -> Letter:
    if link.purpose == "register":
        return Letter(
            link.email,
            "Confirm your address",
            f"Good day {link.display_name},\n\n"
            f"confirm your address with this code within a day:\n\n"
            f"{link.text}\n\nIf you did not ask for it, do nothing.\n",
        )
    return Letter(
        link.email,
        "You already have an account",
        f"Good day {link.display_name},\n\nsomebody asked for an account with your address. You "
        f"already have one: sign in with your password.\n",
    )
