"""New comments on items of the price and findings: only on those that this bid has (BID-10)."""

from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.services import forms, packs, pricing, workspaces
from thenga.domains.bid.tables import Comment, SbdForm, Workbook, Workspace
from thenga.domains.bid.values.findings import is_about_price
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def add_comment(work: Work, workspace_id: UUID, fields: dict[str, Any]) -> Comment:
    """Comment on a bid or a part of it; replies go on after an item or finding is gone."""
    subject_id = fields["subject_id"]
    if subject_id is not None and fields["in_reply_to"] is None:
        workspace = await workspaces.seen_workspace(work, workspace_id)
        await _check_subject(work, workspace, fields["subject_type"], subject_id)
    return await workspaces.add_comment(work, workspace_id, fields)


async def _check_subject(read: Reader, workspace: Workspace, subject_type: str, key: str) -> None:
    if subject_type not in ("item", "finding"):
        return
    sees_price = await workspaces.sees_price(read, workspace)
    if not sees_price and (subject_type == "item" or is_about_price(key.partition(":")[2])):
        return  # `workspaces.add_comment` refuses it, so that nobody can guess at prices
    if subject_type == "item":
        known = await _is_item(read, workspace, key)
    else:
        known = await _is_finding(read, workspace, key, sees_price=sees_price)
    if not known:
        raise workspaces.unknown_subject(subject_type)


async def _is_item(read: Reader, workspace: Workspace, key: str) -> bool:
    """Whether the current price has this item."""
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is None:
        return False
    return key in (await pricing.version_of(read, workbook)).content["items"]


async def _is_finding(read: Reader, workspace: Workspace, key: str, *, sees_price: bool) -> bool:
    """Whether the pack, the price or a form shows this finding to the caller now."""
    if await _is_of_pack(read, workspace, key):
        return True
    if sees_price and await _is_of_price(read, workspace, key):
        return True
    is_of_field = key.partition(":")[2].startswith("field:")
    return is_of_field and await _is_of_form(read, workspace, key, sees_price=sees_price)


async def _is_of_pack(read: Reader, workspace: Workspace, key: str) -> bool:
    pack = await packs.current_pack(read, workspace.id)
    if pack is None:
        return False
    return any(one.key == key for one in (await packs.get_pack(read, pack.id)).findings)


async def _is_of_price(read: Reader, workspace: Workspace, key: str) -> bool:
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is None:
        return False
    shown = await pricing.picture_of(read, workspace, workbook)
    return any(one.key == key for one in shown.picture.findings)


async def _is_of_form(read: Reader, workspace: Workspace, key: str, *, sees_price: bool) -> bool:
    statement = select(SbdForm).where(SbdForm.workspace_id == workspace.id)
    for form in await read.all(statement.order_by(SbdForm.id), limit=100):
        definition = forms.definition_of(form.form_code, form.edition)
        if definition is None or (definition.price and not sees_price):
            continue
        if any(one.key == key for one in (await forms.get_form(read, form.id)).findings):
            return True
    return False
