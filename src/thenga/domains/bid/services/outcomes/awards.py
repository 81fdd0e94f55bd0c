"""Awards as Contract asks for them."""

from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.services import pricing
from thenga.domains.bid.services.outcomes.recording import award_facts, bidders_told, value_of
from thenga.domains.bid.tables import Outcome, OutcomeStatus, TenderRef, Workbook, Workspace
from thenga.kernel.db.reader import Reader


async def describe_award(read: Reader, outcome_id: UUID) -> public.Award | None:
    """The award of an outcome, or nothing where there is none."""
    outcome = await read.find(Outcome, id=outcome_id)
    if outcome is None or outcome.status is not OutcomeStatus.WON or outcome.decided_on is None:
        return None
    workspace = await read.get(Workspace, outcome.workspace_id)
    tender = await read.find(TenderRef, workspace_id=workspace.id)
    facts = await award_facts(read, workspace, outcome)
    return public.Award(
        value=value_of(outcome),
        reference=outcome.award_reference,
        awarded_on=outcome.decided_on,
        price_lines=await _price_lines(read, workspace),
        periods=[],
        validity_days=None if tender is None else tender.validity_days,
        bidders=bidders_told(workspace),
        manifest_sha256=facts["manifest_sha256"],
    )


async def _price_lines(read: Reader, workspace: Workspace) -> list[public.PriceLine]:
    """The items of the price that won, in their order."""
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is None:
        return []
    picture = (await pricing.picture_of(read, workspace, workbook)).picture
    items = sorted(picture.content.items.items(), key=lambda one: one[1].position)
    return [
        public.PriceLine(
            key=key,
            description=item.description,
            unit=item.unit,
            quantity=item.quantity,
            unit_rate=picture.priced.rates[key],
            amount=picture.priced.amounts[key],
        )
        for key, item in items
        if key in picture.priced.amounts
    ]
