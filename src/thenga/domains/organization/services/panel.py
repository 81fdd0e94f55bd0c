"""What operators see of a company's own data."""

from sqlalchemy import true

from thenga.domains.organization.tables import (
    Fact,
    FactConflict,
    FactSuggestion,
    FactVerification,
    Organization,
    OrganizationStatus,
    SuggestionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Figure, Panel, PanelState


async def summarize(read: Reader) -> Panel:
    """The status of the company, and how many of its facts are proven, expired or disputed."""
    company = await read.get(Organization, read.organization_id)
    counts = await panels.count(
        read,
        facts=(Fact, true()),
        facts_verified=(Fact, Fact.verification_status == FactVerification.VERIFIED),
        facts_expired=(Fact, Fact.verification_status == FactVerification.EXPIRED),
        facts_conflicted=(Fact, Fact.conflict_status == FactConflict.CONFLICTED),
        suggestions_pending=(FactSuggestion, FactSuggestion.status == SuggestionStatus.PENDING),
    )
    figures = [
        Figure(key="status", value=company.status.value),
        Figure(key="mode", value=company.mode),
        *counts,
    ]
    shown = {one.key: one.value for one in counts}
    if company.status is not OrganizationStatus.ACTIVE:
        return Panel(figures=figures, state=PanelState.ALARM)
    doubtful = shown["facts_expired"] or shown["facts_conflicted"]
    return Panel(figures=figures, state=PanelState.WARN if doubtful else PanelState.OK)
