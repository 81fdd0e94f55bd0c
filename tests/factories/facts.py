"""Facts of a company, made by its own services: stated, imported, suggested."""

from typing import Any
from uuid import UUID

from tests.factories.organization import working
from tests.factories.settings import change_setting
from thenga.domains.organization import settings
from thenga.domains.organization.manifest import DOMAIN
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import Given, Picture, suggestions
from thenga.domains.organization.services.facts.suggestions import Proposal
from thenga.domains.organization.tables import FactSuggestion, ImportedStatement
from thenga.kernel.process.host import Host


async def stated(host: Host, organization_id: UUID, user_id: UUID, **values: Any) -> None:
    """What the company says of itself."""
    work = working(host, user_id, organization_id)
    await facts.change_profile(work, {key: Given(value) for key, value in values.items()})
    await work.finish()


async def imported(
    host: Host, organization_id: UUID, user_id: UUID, key: str, value: Any, *, register: str
) -> ImportedStatement:
    """What a register or a file says."""
    work = working(host, user_id, organization_id)
    source = {"register": register, "reference": "extract 1"}
    picture = await facts.state_imported(work, key, value, register=register, source=source)
    await work.finish()
    return next(one for one in picture.imported if one.register == register)


async def suggestion(
    host: Host, organization_id: UUID, user_id: UUID, key: str, value: Any
) -> FactSuggestion:
    """What a machine suggests."""
    work = working(host, user_id, organization_id)
    proposal = Proposal(
        fact_key=key,
        value=value,
        confidence=0.8,
        sources=[{"reference": "document 7"}],
        produced_by={"name": "profile-reader", "version": "3.1"},
    )
    made, _ = await suggestions.propose_suggestions(work, proposal)
    await work.finish()
    return made


async def picture(host: Host, organization_id: UUID, user_id: UUID, key: str) -> Picture:
    """All that is said of one fact."""
    work = working(host, user_id, organization_id)
    found = await facts.load_one(work, key)
    await work.close()
    return found


async def without_bounds(host: Host) -> None:
    """Suites found companies by the hundred for one person; the bound has tests of its own."""
    await change_setting(host, DOMAIN, settings.PER_USER_MAX, 10_000_000)
