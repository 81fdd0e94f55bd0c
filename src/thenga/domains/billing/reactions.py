"""What Billing does when others tell something."""

from thenga.domains.billing.services import accounts
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work
from thenga.kernel.events.reactions import Reactions

reactions = Reactions("billing")


@reactions.on(organization.OrganizationCreated)
async def open_account(work: Work, event: organization.OrganizationCreated) -> None:
    """Every organization has an account from the beginning, in the book of its mode (BIL-29)."""
    await accounts.open_provisionally(work, sandbox=event.mode == "sandbox")


@reactions.on(organization.ProfileFactChanged)
async def ask_for_review(work: Work, event: organization.ProfileFactChanged) -> None:
    """What is printed on documents is never rewritten by us; somebody is asked to look."""
    await accounts.review(work, [change.fact_key for change in event.changes])
