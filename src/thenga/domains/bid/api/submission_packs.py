"""Submission packs of bids, and proofs that they were submitted."""

from typing import Annotated, Any

from fastapi import Response

from thenga.domains.bid.api.pack_bodies import AssemblePack, ChangePack, SealPack, SubmitPack
from thenga.domains.bid.api.pack_views import PackView
from thenga.domains.bid.api.parameters import PackId, WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import packs, workspaces
from thenga.domains.bid.services.packs import (
    ApprovalMissing,
    BuildRunning,
    ClosingPassed,
    NotSealed,
    OverrideNotAllowed,
    PackBlocked,
    PinsMoved,
    ProofRequired,
    ReconfirmationRequired,
    Submission,
)
from thenga.domains.bid.services.workspaces import BidAlreadySubmitted, BidSealed
from thenga.domains.bid.tables import Pack
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    FileNotClean,
    InvalidTransition,
    RuleViolated,
    SamePerson,
    StaleVersion,
)
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.json_writer import to_json

router = make_router("Bid / Submission packs")


@router.post(
    "/bids/workspaces/{workspaceId}/submission-pack",
    status_code=202,
    responses=problems(BuildRunning, RuleViolated, Conflict, BidSealed, BidAlreadySubmitted),
)
async def create_pack(
    workspace_id: WorkspaceId,
    body: AssemblePack,
    work: Annotated[Work, writes(Permission.PACK_BUILD)],
) -> PackView:
    """Pin the current version of every part and build a pack. Poll it until it is `built`.

    A new pack replaces the previous one. Extra files that have not been found clean are left out
    and block the seal.
    """
    pack = await packs.assemble(work, workspace_id, _dumped(body))
    return await _view(work, pack)


@router.get("/bids/submission-packs/{packId}")
async def get_pack(
    pack_id: PackId, read: Annotated[Reader, reads(Permission.PACK_READ)]
) -> PackView:
    """Retrieve a pack with the current result of every check."""
    shown = await packs.get_pack(read, pack_id)
    sees = workspaces.has_price(read, shown.workspace)
    return PackView.of(shown, await packs.proofs_of(read, pack_id), read, sees_price=sees)


@router.patch(
    "/bids/submission-packs/{packId}",
    responses=problems(
        *(OverrideNotAllowed, SamePerson, InvalidTransition, RuleViolated, StaleVersion),
        *(Conflict, BidSealed, BidAlreadySubmitted),
    )
    | {202: {"model": PackView, "description": "The pack is being rebuilt."}},
)
async def change_pack(
    pack_id: PackId,
    body: ChangePack,
    work: Annotated[Work, writes(Permission.PACK_UPDATE, if_match=True)],
) -> PackView:
    """Override findings, acknowledge risks, tick off, change files or order, or unseal.

    Overrides, extra files and the order are part of the manifest: changing them rebuilds the pack
    and voids its approval.
    """
    if body.move == "unseal":
        await workspaces.demand(work, Permission.PACK_SEAL)
        return await _view(work, await packs.unseal(work, pack_id, reason=body.reason))
    pack, rebuilt = await packs.change(work, pack_id, _dumped(body))
    view = await _view(work, pack)
    if not rebuilt:
        return view
    return Response(to_json(view), 202, media_type="application/json")  # type: ignore[return-value]  # the door sends it as it is


@router.post(
    "/bids/submission-packs/{packId}/seal",
    responses=problems(
        *(PackBlocked, ApprovalMissing, ReconfirmationRequired, PinsMoved, ClosingPassed),
        *(InvalidTransition, RuleViolated, StaleVersion),
    ),
)
async def seal_pack(
    pack_id: PackId, body: SealPack, work: Annotated[Work, writes(Permission.PACK_SEAL)]
) -> PackView:
    """Seal the pack whose manifest you saw. The bid cannot be changed until it is unsealed."""
    pack = await packs.seal(work, pack_id, manifest_sha256=body.manifest_sha256)
    return await _view(work, pack)


@router.post(
    "/bids/submission-packs/{packId}/submit",
    responses=problems(
        *(NotSealed, ClosingPassed, ProofRequired, PackBlocked, FileNotClean, RuleViolated),
        *(InvalidTransition, StaleVersion),
    ),
)
async def submit_pack(
    pack_id: PackId, body: SubmitPack, work: Annotated[Work, writes(Permission.PACK_SUBMIT)]
) -> PackView:
    """Record that the sealed pack was submitted, with a receipt or a file.

    After the closing date, proof can be recorded for some working days, with a file. Further proof
    is added to the first.
    """
    submission = Submission(
        channel=body.channel,
        submitted_at=body.submitted_at,
        place=body.place,
        receipt_reference=body.receipt_reference,
        received_by=body.received_by,
        copies=body.copies,
        file_ids=body.file_ids,
    )
    pack, _ = await packs.submit(work, pack_id, submission)
    return await _view(work, pack)


async def _view(work: Work, pack: Pack) -> PackView:
    shown = await packs.read_pack(work, pack)
    sees = workspaces.has_price(work, shown.workspace)
    return PackView.of(shown, await packs.proofs_of(work, pack.id), work, sees_price=sees)


def _dumped(body: Body) -> dict[str, Any]:
    """The fields that the client sent, as plain values."""
    sent = body.model_dump(by_alias=False, exclude_unset=True)
    return {name: value for name, value in sent.items() if name in body.model_fields_set}
