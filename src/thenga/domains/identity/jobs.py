"""What Identity does later and what time does in it."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.administration.public import Integrations
from thenga.domains.identity.services import (
    accounts,
    api_keys,
    audit_events,
    auth,
    decisions,
    invitations,
    providers,
    roles,
    sessions,
)
from thenga.domains.identity.tables import (
    ApiKey,
    Invitation,
    PermissionAssignment,
    RoleAssignment,
)
from thenga.domains.identity.values.openid import OpenIdClient
from thenga.domains.notification.public import Recipient, Requests, as_fact
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.resealing import reseals
from thenga.kernel.jobs.run import Run

jobs = Jobs("identity")
reseal_columns = reseals(jobs)

_TOPICS = {
    "register": "identity.confirm_address",
    "created": "identity.account_created",
    "known_already": "identity.already_registered",
    "reset_password": "identity.reset_password",
    "change_address": "identity.confirm_new_address",
}


@jobs.every(timedelta(seconds=10))
async def enforce_policies(work: Work) -> None:
    """Let an access policy decide from its instant on (IDN-37)."""
    await decisions.enforce_policies(work)


@jobs.implements(auth.deliver_link)
async def deliver_link(run: Run, *, link_hash: str) -> None:
    """Hand the letter over, then forget its text (IDN-10)."""
    digest = bytes.fromhex(link_hash)
    async with run.reading() as read:
        link = await auth.link_to_deliver(read, digest)
    if link is not None:
        await run.port(Requests).accept(
            topic_code=_TOPICS[link.purpose],
            recipients=[Recipient(user_id=link.user_id, address=link.email)],
            facts={"name": as_fact(link.display_name)},
            sealed_facts=auth.sealed_facts(link),
            key=run.key,
        )
    async with run.working() as work:
        await auth.mark_delivered(work, digest)


@jobs.implements(accounts.tell_person)
async def tell_person(run: Run, *, topic: str, user_id: UUID, about: str) -> None:
    """Hand a notice over; its facts are read now, so no address waited in the queue."""
    async with run.reading() as read:
        message = await accounts.compose_message(read, topic, user_id, about)
    if message is None:
        return
    await run.port(Requests).accept(
        topic_code=message.topic,
        recipients=[Recipient(user_id=message.user_id, address=message.email)],
        facts=message.facts,
        sealed_facts={},
        key=run.key,
    )
    async with run.working() as work:
        await work.become(user_id)
        work.note("identity.person.told", ("user_account", user_id), {"topic": topic})


@jobs.implements(auth.note_lock)
async def note_lock(work: Work, *, key: str) -> None:
    """Show a lock on the account and tell its holder (IDN-7)."""
    await auth.tell_lock(work, bytes.fromhex(key))


@when_due(jobs, RoleAssignment, every=timedelta(seconds=10))
async def end_assignment(work: Work, *, role_assignment_id: UUID) -> None:
    """A role that is over is written down as such."""
    await roles.run_due_role_steps(work, role_assignment_id)


@when_due(jobs, PermissionAssignment, every=timedelta(seconds=10))
async def end_permission(work: Work, *, permission_assignment_id: UUID) -> None:
    """A single permission that is over is written down as such."""
    await roles.run_due_permission_steps(work, permission_assignment_id)


@when_due(jobs, Invitation, every=timedelta(seconds=10))
async def remind_invitation(work: Work, *, invitation_id: UUID) -> None:
    """On the fifth day a letter goes out again; after the seventh it is over."""
    await invitations.follow_time(work, invitation_id)


@jobs.implements(invitations.deliver_invitation)
async def deliver_invitation(run: Run, *, link_hash: str) -> None:
    """Hand the letter over, then forget its text and tell that it was sent (IDN-10)."""
    digest = bytes.fromhex(link_hash)
    async with run.reading() as read:
        letter = await invitations.letter_to_deliver(read, digest)
    if letter is None:
        return
    await run.port(Requests).accept(
        topic_code="identity.invitation_again" if letter.is_reminder else "identity.invitation",
        recipients=[Recipient(user_id=letter.user_id, address=letter.email)],
        facts={"until": letter.expires_at.isoformat()} | letter.names,
        sealed_facts={"link": letter.text},
        key=run.key,
    )
    async with run.working() as work:
        await invitations.mark_delivered(work, digest)


@jobs.implements(providers.follow_integration)
async def follow_integration(run: Run, *, integration_id: UUID) -> None:
    """Copy an identity provider with what it publishes about itself, or stop it (IDN-16)."""
    active = await run.port(Integrations).sealed(
        target_domain="identity", kind=providers.KIND, environment="live"
    )
    found = next((one for one in active if one.id == integration_id), None)
    document = None
    if found is not None:
        document = await run.adapter(OpenIdClient).describe(str(found.settings["issuer"]))
    async with run.working() as work:
        await providers.record_provider(work, integration_id, found, document)


@jobs.implements(providers.redeem_ticket)
async def redeem_ticket(run: Run, *, ticket_hash: str) -> None:
    """Exchange the code of a ticket at the provider and keep whom it names (IDN-16)."""
    digest = bytes.fromhex(ticket_hash)
    async with run.reading() as read:
        exchange = await providers.exchange_of(read, digest)
    if exchange is None:
        return
    redeemed = await run.adapter(OpenIdClient).redeem(exchange)
    async with run.working() as work:
        await providers.record_redeemed(work, digest, redeemed)


@when_due(jobs, ApiKey, every=timedelta(seconds=10))
async def check_key(work: Work, *, api_key_id: UUID) -> None:
    """The grace or life of a key is over, or its end is near."""
    await api_keys.check_time(work, api_key_id)


@jobs.every(timedelta(hours=1))
async def purge_decisions(work: Work) -> None:
    """Records live 90 days and tallies 30; what is older goes, a thousand at a time (IDN-36)."""
    await decisions.purge(work, limit=1000)


@jobs.every(timedelta(minutes=1))
async def anchor_heads(work: Work) -> None:
    """The end of every audit chain that grew is signed (IDN-50)."""
    await audit_events.anchor(work, limit=1000)


@jobs.every(timedelta(days=1))
async def verify_chains(work: Work) -> None:
    """Every chain is read once a night; a break is told as an alarm."""
    await audit_events.verify_all(work)


@jobs.every(timedelta(seconds=10))
async def fold_uses(work: Work) -> None:
    """When sessions were last seen, from the notes of all processes (IDN-42)."""
    await sessions.fold_uses(work, limit=10_000)


@jobs.every(timedelta(minutes=5))
async def expire_sessions(work: Work) -> None:
    """Each session that is over is written down in its own job; old seals are wiped."""
    for user_id, session_id in await sessions.session_over(work, limit=1000):
        work.enqueue(expire_session, user_id=user_id, session_id=session_id)
    await auth.wipe_seals(work, limit=1000)


@jobs.queued(key="{session_id}")
async def expire_session(work: Work, *, user_id: UUID, session_id: UUID) -> None:
    await work.become(user_id)
    await sessions.expire_session(work, session_id)


@jobs.every(timedelta(hours=1))
async def purge_tokens(work: Work) -> None:
    """What is long over is taken away, a thousand of each at a time."""
    await auth.purge(work, limit=1000)
    await providers.purge(work, limit=1000)


@jobs.every(timedelta(days=1))
async def remove_unverified(work: Work) -> None:
    """Accounts that nobody proved for fourteen days; their addresses are free again."""
    for user_id in await auth.given_up(work, limit=1000):
        await auth.remove_unproved(work, user_id)
