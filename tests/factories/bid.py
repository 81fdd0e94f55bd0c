"""Bids: companies with room for workspaces, tenders to bid on, and workspaces in every state."""

import json
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import select

from tests.factories import held
from tests.factories import identity as people
from tests.factories import opportunity_board as tenders
from tests.factories.identity import Member
from thenga.domains.bid.services import planning, proposals, workspaces
from thenga.domains.bid.tables import (
    BidFile,
    Comment,
    Draft,
    Outcome,
    Section,
    Task,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.opportunity.public import Tender
from thenga.domains.opportunity.services import describing
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.access.actors import SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.process.host import Host

R = TypeVar("R", bound=Row)
ORIGIN = Origin(action="factory", request_id="factory", correlation_id="factory")
FEATURE = "bid.workspaces"


def working(host: Host, organization_id: UUID | None = None, *, person: UUID | None = None) -> Work:
    """A unit of work of the system, or of one person."""
    actor = SYSTEM if person is None else Actor(ActorKind.USER, person)
    return Work(host, "bid", Scope(actor, organization_id), ORIGIN)


async def room(host: Host, organization_id: UUID, count: int = 100_000) -> None:
    """A plan with room for so many workspaces."""
    await held.granted(host, organization_id, FEATURE, count)


async def company(host: Host, *, role: str = "owner") -> Member:
    """Somebody of a new company that may bid."""
    organization_id = uuid4()
    await room(host, organization_id)
    return await people.member(host, organization_id, role=role)


async def tender(
    host: Host, *, closing_at: datetime | None = None, **fields: Any
) -> TenderOpportunity:
    """A shared tender that is open."""
    given = {} if closing_at is None else {"closing_at": closing_at}
    return await tenders.shared_tender(host, **given | fields)


async def described(host: Host, organization_id: UUID, tender_id: UUID) -> Tender:
    """The tender as its port describes it."""
    read = tenders.working(host, organization_id)
    try:
        (found,) = await describing.describe_tenders(read, [tender_id])
        return found
    finally:
        await read.close()


async def workspace(
    host: Host,
    organization_id: UUID,
    manager: UUID | None = None,
    *,
    of_tender: TenderOpportunity | None = None,
    status: WorkspaceStatus = WorkspaceStatus.PREPARING,
    **fields: Any,
) -> Workspace:
    """A workspace with its matrix and plan, seen by everybody unless said otherwise."""
    found = of_tender or await tender(host)
    told = await described(host, organization_id, found.id)
    work = working(host, organization_id)
    given: dict[str, Any] = {
        "title": "Road to the school",
        "access": "organization",
        "bid_manager_user_id": manager,
        "team": workspaces.team_of({}, manager),
        "bidders": workspaces.bidders_of(None, organization_id),
        "closing_at": told.closing_at,
        "gate_at": workspaces.gate_of(told),
        "next_check_at": workspaces.gate_of(told),
        "amendment_number": told.amendment_number,
        "status": status,
    }
    made = await work.add(
        Workspace(organization_id=organization_id, tender_opportunity_id=found.id, **given | fields)
    )
    stored = await workspaces.store_tender(work, made, told)
    await proposals.add_rows(work, made, told)
    await planning.draft_plan(work, made, stored)
    await work.finish()
    return await get(host, Workspace, made.id, organization_id)


async def task(host: Host, organization_id: UUID, workspace_id: UUID, **fields: Any) -> Task:
    """Something to do."""
    given: dict[str, Any] = {"title": f"Ask {uuid4().hex[:8]}", "depends_on": [], "checklist": {}}
    return await _add(
        host,
        Task(organization_id=organization_id, workspace_id=workspace_id, **given | fields),
    )


async def comment(
    host: Host, organization_id: UUID, workspace_id: UUID, author: UUID | None, **fields: Any
) -> Comment:
    """A comment on a bid."""
    given: dict[str, Any] = {"body": "Who signs this?", "mentions": [], "author_user_id": author}
    return await _add(
        host,
        Comment(organization_id=organization_id, workspace_id=workspace_id, **given | fields),
    )


async def draft(
    host: Host, organization_id: UUID, workspace_id: UUID, **fields: Any
) -> tuple[Draft, Section]:
    """A draft with one section."""
    title = f"Method {uuid4().hex[:8]}"
    made = await _add(
        host,
        Draft(
            organization_id=organization_id,
            workspace_id=workspace_id,
            title=title,
            title_key=title.casefold(),
            **fields,
        ),
    )
    section = await _add(
        host,
        Section(
            organization_id=organization_id,
            workspace_id=workspace_id,
            draft_id=made.id,
            title="Approach",
            position=1,
            requirement_ids=[],
            authors=[],
        ),
    )
    return made, section


async def outcome(host: Host, organization_id: UUID, workspace_id: UUID) -> Outcome:
    """An outcome of which nothing is known yet."""
    return await _add(
        host,
        Outcome(
            organization_id=organization_id,
            workspace_id=workspace_id,
            file_ids=[],
            reasons=[],
            lessons={},
            appeal={"status": "none", "lodgedOn": None, "dueOn": None},
            history=[],
        ),
    )


async def clean_file(host: Host, organization_id: UUID, workspace_id: UUID) -> BidFile:
    """A file of a bid that was found clean."""
    return await _add(
        host,
        BidFile(
            organization_id=organization_id,
            workspace_id=workspace_id,
            name="letter.pdf",
            purpose="other",
            content_status=ContentStatus.CLEAN,
            object_key=f"bid/clean/{uuid4()}",
            sha256="0" * 64,
            size=3,
            media_type="application/pdf",
        ),
    )


async def _add(host: Host, row: R) -> R:
    work = working(host, row.__dict__["organization_id"])
    await work.add(row)
    await work.finish()
    return row


async def get(host: Host, row: type[R], row_id: UUID, organization_id: UUID) -> R:
    work = working(host, organization_id)
    try:
        return await work.get(row, row_id)
    finally:
        await work.close()


async def rows(host: Host, row: type[R], organization_id: UUID, **columns: Any) -> list[R]:
    """The rows of an organization with these values."""
    work = working(host, organization_id)
    chosen = [row.__table__.c[name] == value for name, value in columns.items()]
    try:
        return await work.all(select(row).where(*chosen).order_by(row.__table__.c.id))
    finally:
        await work.close()


async def told(host: Host, organization_id: UUID, kind: str) -> list[dict[str, Any]]:
    """The events of one type that were published for an organization, in order."""
    return [one for one in await all_told(host, organization_id) if one["type"] == f"bid.{kind}.v1"]


async def all_told(host: Host, organization_id: UUID) -> list[dict[str, Any]]:
    """Every event of Bid that was published for an organization, in order."""
    async with host.engines.connection("bid", "bid_system") as connection:
        found = await connection.fetch(
            "SELECT envelope FROM bid.outbox WHERE organization_id = $1 ORDER BY id",
            organization_id,
        )
    return [json.loads(one[0]) for one in found]
