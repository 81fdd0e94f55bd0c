"""What Organization tells: which companies there are, and facts that forms cite (BID-25)."""

from thenga.domains.bid.reactions.declared import reactions
from thenga.domains.bid.services import forms, tenants
from thenga.domains.organization import public as organization
from thenga.kernel.db.work import Work

# Changes of a fact that are no other value: somebody checked or confirmed it.
_SAME_VALUE = ("verified", "confirmed")


@reactions.on(organization.OrganizationCreated)
async def know_organization(work: Work, event: organization.OrganizationCreated) -> None:
    """Store whether it is a sandbox, whose clock can be moved."""
    await tenants.TENANTS.know(work, sandbox=event.mode == "sandbox")


@reactions.on(organization.ProfileFactChanged)
async def outdate_by_facts(work: Work, event: organization.ProfileFactChanged) -> None:
    """Forms that cite an older version of a material fact are out of date."""
    changed = {
        f"{event.organization_id}:{one.fact_key}": one.fact_version
        for one in event.changes
        if one.change not in _SAME_VALUE
    }
    if changed:
        await forms.refresh_uses(work, changed, "fact_changed")


@reactions.on(organization.AddressChanged)
async def outdate_by_address(work: Work, event: organization.AddressChanged) -> None:
    """An address that forms cite has changed."""
    await forms.refresh_uses(work, {str(event.record_id): event.record_version}, "fact_changed")


@reactions.on(organization.ContactChanged)
async def outdate_by_contact(work: Work, event: organization.ContactChanged) -> None:
    """A contact that forms cite has changed."""
    await forms.refresh_uses(work, {str(event.record_id): event.record_version}, "fact_changed")


@reactions.on(organization.DirectorChanged)
async def outdate_declarations(work: Work, event: organization.DirectorChanged) -> None:
    """Who leads the company, or what is known of them, has changed: declarations are made anew."""
    if event.change not in _SAME_VALUE:
        await forms.outdate_declarations(work, "director_changed")
