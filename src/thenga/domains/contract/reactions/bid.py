"""What Bid tells of won bids: the only doors through which a contract begins (CON-1, CON-4)."""

from thenga.domains.bid import public as bid
from thenga.domains.contract.reactions.declared import reactions
from thenga.domains.contract.services import awards, risks, workspaces
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope

_SET_ASIDE = "award_set_aside"


@reactions.on_type(bid.BidAwarded.type)
async def store_award(work: Work, envelope: Envelope) -> None:
    """Store the award of a bid; a later revision refreshes the contract that is there (CON-2)."""
    await _store(work, envelope)


@reactions.on_type(bid.ContractCreationRecorded.type)
async def store_contract_creation(work: Work, envelope: Envelope) -> None:
    """Store a contract that was won outside of the platform (CON-3)."""
    await _store(work, envelope)


@reactions.on(bid.BidAwardSetAside)
async def withdraw_award(work: Work, event: bid.BidAwardSetAside) -> None:
    """Withdraw the award; a contract in force is challenged and has a critical risk (CON-4)."""
    withdrawn = await awards.withdraw_awards(work, event.outcome_id, reason=event.reason_code)
    opened = {one.workspace_id for one in withdrawn if one.workspace_id is not None}
    for workspace_id in opened:
        workspace = await workspaces.challenge_by_award(
            work, workspace_id, reason="The award was set aside."
        )
        if workspace is not None:
            await risks.raise_by_rule(
                work, workspace, rule=_SET_ASIDE, title="The award was set aside"
            )


async def _store(work: Work, envelope: Envelope) -> None:
    award = await awards.record_award(work, envelope)
    await workspaces.apply_revision(work, award)
