"""Bid's ports, answered in this process."""

from typing import Literal
from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.services import outcomes, pricing, proposals
from thenga.domains.bid.services.proposals import Proposal
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host


class LocalAwards(public.Awards):
    """Awards as the company recorded them."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Awards)

    async def describe(self, *, organization_id: UUID, outcome_id: UUID) -> public.Award | None:
        async with self._answering.reading(organization_id) as read:
            return await outcomes.describe_award(read, outcome_id)


class LocalCashPlans(public.CashPlans):
    """The cash of a price, from its workbook and cash terms."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.CashPlans)

    async def describe(
        self, *, organization_id: UUID, workspace_id: UUID, version: int | None = None
    ) -> public.CashPlan | None:
        async with self._answering.reading(organization_id) as read:
            return await pricing.cash_plan(read, workspace_id, version)


class LocalSuggestions(public.Suggestions):
    """Texts that machines bring for sections."""

    def __init__(self, host: Host) -> None:
        self._answering = Answering(host, public.Suggestions)

    async def propose(
        self,
        *,
        key: str,
        organization_id: UUID,
        section_id: UUID,
        base_version: int,
        text: str,
        sources: list[public.SectionSource],
        confidence: float,
        execution_id: UUID | None,
        explanation_id: UUID | None,
        produced_by: public.SectionProducer,
        guardrail_outcome: Literal["passed", "flagged", "blocked"],
    ) -> UUID:
        proposal = Proposal(
            key=key,
            section_id=section_id,
            base_version=base_version,
            text=text,
            sources=sources,
            confidence=confidence,
            execution_id=execution_id,
            explanation_id=explanation_id,
            produced_by=produced_by,
            guardrail_outcome=guardrail_outcome,
        )
        async with self._answering.working(organization_id) as work:
            return (await proposals.propose(work, proposal)).id
