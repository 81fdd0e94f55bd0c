"""Billing's reactions to events of other domains."""

from thenga.domains.billing.services import accounts, usage
from thenga.domains.identity import public as identity
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("billing", is_sandbox=accounts.is_sandbox)


@reactions.on(organization.OrganizationCreated)
async def open_account(work: Work, event: organization.OrganizationCreated) -> None:
    """Open the account of a new organization in the book of its mode (BIL-29)."""
    await accounts.open_account(work, sandbox=event.mode == "sandbox")


@reactions.on(organization.ProfileFactChanged)
async def ask_for_review(work: Work, event: organization.ProfileFactChanged) -> None:
    """Flag billing details for review. Billing never rewrites what documents print."""
    await accounts.flag_for_review(work, [change.fact_key for change in event.changes])


# Identity counts seats, one for each person; Billing shows the number and sets the limit.
# Uses the event time of the envelope, because the newest number wins in any order.


@reactions.on_type(identity.MembershipChanged.type)
async def count_seats_of_members(work: Work, envelope: Envelope) -> None:
    """Store the number of seats. The newest number wins (BIL-24)."""
    await _store_seats(work, envelope)


@reactions.on_type(identity.InvitationSent.type)
async def count_seats_of_invited(work: Work, envelope: Envelope) -> None:
    """An invitation reserves a seat. The newest number wins (BIL-24)."""
    await _store_seats(work, envelope)


@reactions.on_type(identity.InvitationEnded.type)
async def count_seats_set_free(work: Work, envelope: Envelope) -> None:
    """Store the number of seats. The newest number wins (BIL-24)."""
    await _store_seats(work, envelope)


async def _store_seats(work: Work, envelope: Envelope) -> None:
    number = int(envelope.data["seatsUsed"])
    await usage.record_gauge(work, "identity.seats", number, counted_at=envelope.time)
