"""What Billing does when others tell something."""

from thenga.domains.billing.services import accounts, usage
from thenga.domains.identity import public as identity
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("billing", is_sandbox=accounts.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def open_account(work: Work, event: organization.OrganizationCreated) -> None:
    """Every organization has an account from the beginning, in the book of its mode (BIL-29)."""
    await accounts.open_account(work, sandbox=event.mode == "sandbox")


@reactions.on(organization.ProfileFactChanged)
async def ask_for_review(work: Work, event: organization.ProfileFactChanged) -> None:
    """What is printed on documents is never rewritten by us; somebody is asked to look."""
    await accounts.flag_for_review(work, [change.fact_key for change in event.changes])


# Seats are counted by Identity, one person one seat; Billing shows the number and gives the limit.
# By the envelope, because the newest number by event time counts, in whatever order they come.


@reactions.on_type(identity.MembershipChanged.type)
async def count_seats_of_members(work: Work, envelope: Envelope) -> None:
    """The newest number counts (BIL-24)."""
    await _tell_seats(work, envelope)


@reactions.on_type(identity.InvitationSent.type)
async def count_seats_of_invited(work: Work, envelope: Envelope) -> None:
    """Whoever is invited has a seat kept; the newest number counts (BIL-24)."""
    await _tell_seats(work, envelope)


@reactions.on_type(identity.InvitationEnded.type)
async def count_seats_set_free(work: Work, envelope: Envelope) -> None:
    """The newest number counts (BIL-24)."""
    await _tell_seats(work, envelope)


async def _tell_seats(work: Work, envelope: Envelope) -> None:
    number = int(envelope.data["seatsUsed"])
    await usage.record_gauge(work, "identity.seats", number, counted_at=envelope.time)
