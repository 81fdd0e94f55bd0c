"""Drafts and their sections: begun by hand or from the scored criteria of the tender."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import func, select

from thenga.domains.bid import public
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import (
    Draft,
    MatrixRow,
    Section,
    SectionStatus,
    SectionVersion,
    TenderRef,
    Workspace,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated

MOST_DRAFTS = 10
MOST_SECTIONS = 60


@dataclass(frozen=True, slots=True)
class PackText:
    """An approved or unapproved text of the proposal, as a pack takes it in."""

    section_id: UUID
    draft_title: str
    envelope: str
    title: str
    position: int
    status: SectionStatus
    version_number: int
    sha256: str | None
    content: str
    authors: tuple[UUID, ...]


async def create_draft(
    work: Work,
    workspace_id: UUID,
    *,
    title: str,
    envelope: str,
    sections: list[dict[str, Any]],
    from_tender: bool,
) -> tuple[Draft, list[Section]]:
    """Begin a draft with its sections; its title is used once in a workspace."""
    workspace = await workspaces.workspace_for(work, workspace_id, *_needs(envelope))
    await workspaces.check_assignees(work, workspace, [one["owner_user_id"] for one in sections])
    count = select(func.count()).where(
        Draft.organization_id == work.organization_id, Draft.workspace_id == workspace_id
    )
    if (await work.value(count) or 0) >= MOST_DRAFTS:
        raise RuleViolated("A bid can have at most 10 drafts.", rule="BID-11", limit=MOST_DRAFTS)
    planned = [*(await _from_tender(work, workspace) if from_tender else ()), *sections]
    if not 1 <= len(planned) <= MOST_SECTIONS:
        raise RuleViolated("A draft must have 1 to 60 sections.", rule="BID-11", field="sections")
    draft = await _add(work, workspace, title, envelope)
    made = []
    for position, fields in enumerate(planned, start=1):
        section = Section(
            organization_id=work.organization_id,
            workspace_id=workspace_id,
            draft_id=draft.id,
            position=position,
            authors=[],
            **fields,
        )
        made.append(await work.add(section))
        work.publish(section_changed(workspace, section))
    return draft, made


async def _add(work: Work, workspace: Workspace, title: str, envelope: str) -> Draft:
    known = await work.find(Draft, workspace_id=workspace.id, title_key=title.casefold())
    if known is not None:
        raise _taken(known.id)
    try:
        return await work.add(
            Draft(
                organization_id=work.organization_id,
                workspace_id=workspace.id,
                title=title,
                title_key=title.casefold(),
                envelope=envelope,
            )
        )
    except asyncpg.UniqueViolationError:
        raise _taken(None) from None


def _taken(draft_id: UUID | None) -> Duplicate:
    existing = {"domain": "bid", "type": "draft", "id": str(draft_id)}
    return Duplicate(
        "This bid already has a draft with this title.",
        existing=None if draft_id is None else existing,
        field="title",
    )


async def _from_tender(work: Work, workspace: Workspace) -> list[dict[str, Any]]:
    """A section for each scored criterion, or for each part of functionality."""
    statement = (
        select(MatrixRow)
        .where(
            MatrixRow.workspace_id == workspace.id,
            MatrixRow.requirement_class == "scored",
            MatrixRow.removed_at.is_(None),
        )
        .order_by(MatrixRow.id)
    )
    rows = await work.all(statement, limit=MOST_SECTIONS + 1)
    if rows:
        return [
            _planned(row.requirement_label, requirement_ids=[str(row.requirement_id)])
            for row in rows
        ]
    tender: TenderRef | None = await workspaces.stored_tender(work, workspace)
    functionality = None if tender is None else tender.terms.get("functionality")
    return [_planned(part["title"]) for part in (functionality or {}).get("parts", [])]


def _planned(title: str, requirement_ids: Sequence[str] = ()) -> dict[str, Any]:
    return {"title": title[:160], "requirement_ids": list(requirement_ids), "owner_user_id": None}


def _needs(envelope: str) -> tuple[Need, ...]:
    return (Need.EDIT, Need.PRICE) if envelope == "financial" else (Need.EDIT,)


async def get_draft(read: Reader, draft_id: UUID) -> tuple[Draft, list[Section]]:
    """A draft with its sections in their order; a financial one for whoever sees prices."""
    draft = await read.get(Draft, draft_id)
    await check_envelope(read, draft)
    return draft, await sections_of(read, [draft.id])


async def drafts_of(read: Reader, workspace: Workspace) -> list[tuple[Draft, list[Section]]]:
    """The drafts of a workspace that the caller may see."""
    statement = select(Draft).where(Draft.workspace_id == workspace.id).order_by(Draft.id)
    drafts = await read.all(statement, limit=MOST_DRAFTS)
    if not await workspaces.sees_price(read, workspace):
        drafts = [one for one in drafts if one.envelope != "financial"]
    sections = await sections_of(read, [one.id for one in drafts])
    return [(one, [each for each in sections if each.draft_id == one.id]) for one in drafts]


async def sections_of(read: Reader, draft_ids: Sequence[UUID]) -> list[Section]:
    """The sections of drafts, in their order."""
    if not draft_ids:
        return []
    statement = select(Section).where(among(Section.draft_id, list(draft_ids)))
    return await read.all(statement.order_by(Section.position, Section.id))


async def check_envelope(read: Reader, draft: Draft) -> Workspace:
    """The workspace of a draft, for somebody who needs to know what is in its envelope."""
    workspace = await workspaces.seen_workspace(read, draft.workspace_id)
    if draft.envelope == "financial" and not await workspaces.sees_price(read, workspace):
        workspaces.check_needs(read, workspace, (Need.PRICE,))
        await workspaces.demand(read, Permission.PRICING_READ)
    return workspace


def status_of(sections: Sequence[Section]) -> SectionStatus:
    """The status of a draft is that of its section that is furthest behind."""
    return min((one.status for one in sections), key=list(SectionStatus).index)


async def pack_texts(read: Reader, workspace_id: UUID) -> list[PackText]:
    """Every text of the proposal in its current version, in order; for packs."""
    drafts = await read.all(
        select(Draft).where(Draft.workspace_id == workspace_id).order_by(Draft.id)
    )
    sections = await sections_of(read, [one.id for one in drafts])
    contents = await _contents(read, sections)
    titles = {one.id: one for one in drafts}
    return [
        PackText(
            section_id=one.id,
            draft_title=titles[one.draft_id].title,
            envelope=titles[one.draft_id].envelope,
            title=one.title,
            position=one.position,
            status=one.status,
            version_number=one.version_number,
            sha256=one.sha256,
            content=contents.get((one.id, one.version_number), ""),
            authors=tuple(UUID(author) for author in one.authors),
        )
        for draft in drafts
        for one in sections
        if one.draft_id == draft.id
    ]


async def _contents(read: Reader, sections: Sequence[Section]) -> dict[tuple[UUID, int], str]:
    ids = [one.id for one in sections]
    if not ids:
        return {}
    newest = {one.id: one.version_number for one in sections}
    statement = select(SectionVersion).where(
        among(SectionVersion.section_id, ids),
        among(SectionVersion.number, sorted(set(newest.values()))),
    )
    return {
        (one.section_id, one.number): one.content
        for one in await read.all(statement, limit=100_000)
        if newest[one.section_id] == one.number
    }


def section_changed(workspace: Workspace, section: Section) -> public.SectionChanged:
    """The event of a section that was added, written or moved."""
    return public.SectionChanged(
        **workspaces.told_of(workspace) | {"label": section.title},
        section_id=section.id,
        draft_id=section.draft_id,
        status=section.status.value,
        version_number=section.version_number,
    )
