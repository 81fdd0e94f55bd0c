"""Sections: every text is a version, and nobody approves what they wrote (BID-11, BID-12)."""

import hashlib
import re
from datetime import datetime
from typing import Any
from uuid import UUID

import rfc8785
from sqlalchemy import select

from thenga.domains.bid.lifecycles import SectionLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.proposals.drafts import check_envelope, section_changed
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import Draft, Section, SectionStatus, SectionVersion, Workspace
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import (
    Forbidden,
    Problem,
    RuleViolated,
    SamePerson,
    StaleVersion,
    extensions,
)

WORDS_PER_PAGE = 450
_WORD = re.compile(r"\w[\w'\u2019-]*")
REVIEWS = frozenset(("approve", "request_changes", "lock"))


class SectionStale(StaleVersion):
    """Someone else changed the section. Read it again before you save your text."""

    members = extensions(
        **StaleVersion.members,
        changedBy=(str | None, "ID of the person who wrote the current version."),
        changedAt=(datetime | None, "Time at which the current version was written."),
    )


class BidCommentsOpen(Problem):
    """This section has open blocking comments. Resolve them before you approve it."""

    code, status, title = "bid-comments-open", 409, "Blocking comments are open"


class BidLimitExceeded(Problem):
    """The text exceeds the limit of the section. Shorten it before the review."""

    code, status, title = "bid-limit-exceeded", 422, "The text is too long"
    members = extensions(
        limit=(int, "Maximum words or pages."), used=(int, "Current words or pages.")
    )


def count_words(content: str) -> int:
    """Words of a text; marks of Markdown are none."""
    return len(_WORD.findall(content))


def digest(content: str) -> str:
    """The SHA-256 of what a version says: its text, and later its claims."""
    return hashlib.sha256(rfc8785.dumps({"claims": {}, "content": content})).hexdigest()


async def open_section(work: Work, section_id: UUID, *needs: Need) -> tuple[Section, Workspace]:
    """A section, locked at the caller's version, of a workspace that may be changed."""
    seen = await work.get(Section, section_id)
    draft = await work.get(Draft, seen.draft_id)
    await check_envelope(work, draft)
    workspace = await workspaces.workspace_for(work, seen.workspace_id, *needs)
    try:
        return await work.lock(Section, section_id), workspace
    except StaleVersion:
        now = await work.get(Section, section_id)
        by = None if now.written_by is None else str(now.written_by)
        raise SectionStale(
            currentVersion=now.version,
            changedBy=by,
            changedAt=None if now.written_at is None else now.written_at.isoformat(),
        ) from None


async def write_section(work: Work, section_id: UUID, content: str) -> Section:
    """Write a new version; a section that was approved is in drafting again."""
    section, workspace = await open_section(work, section_id, Need.EDIT)
    await write(work, workspace, section, content)
    return section


async def write(
    work: Work,
    workspace: Workspace,
    section: Section,
    content: str,
    *,
    suggestion_id: UUID | None = None,
) -> None:
    """Add a version of a locked section; the same text again is none."""
    if section.status is SectionStatus.LOCKED:
        SectionLifecycle.rewrite(section, at=work.now)  # refused: it is reopened first
    sha256 = digest(content)
    if sha256 == section.sha256:
        return
    person = work.actor.person_id
    section.version_number += 1
    section.sha256, section.words = sha256, count_words(content)
    section.written_by, section.written_at = person, work.now
    if person is not None and str(person) not in section.authors:
        section.authors = [*section.authors, str(person)]
    if section.status is SectionStatus.NOT_STARTED:
        SectionLifecycle.begin(section, at=work.now)
    elif section.status is not SectionStatus.DRAFTING:
        SectionLifecycle.rewrite(section, at=work.now)
        explain(section, at=work.now, by=person, code="rewritten")
    await work.save(section)
    await work.add(
        SectionVersion(
            organization_id=work.organization_id,
            section_id=section.id,
            number=section.version_number,
            content=content,
            sha256=sha256,
            words=section.words,
            author_user_id=person,
            suggestion_id=suggestion_id,
        )
    )
    work.publish(section_changed(workspace, section))


async def change_section(work: Work, section_id: UUID, fields: dict[str, Any]) -> Section:
    """Change title, instructions, owner, place, limit or requirements."""
    if "owner_user_id" in fields:
        seen = await work.get(Section, section_id)
        workspace = await workspaces.seen_workspace(work, seen.workspace_id)
        await workspaces.check_assignees(work, workspace, [fields["owner_user_id"]])
    section, workspace = await open_section(work, section_id, Need.EDIT)
    if merge_patch(section, fields):
        await work.save(section)
        work.publish(section_changed(workspace, section))
    return section


async def move_section(work: Work, section_id: UUID, verb: str, reason: str | None) -> Section:
    """Ask for a review, review, lock or reopen."""
    section, workspace = await open_section(work, section_id, Need.EDIT)
    if verb == "request_review":
        check_limit(section)
    elif verb == "approve" and section.status is SectionStatus.READY_FOR_REVIEW:
        await _check_approval(work, workspace, section)
    elif verb == "request_changes" and reason is None:
        raise RuleViolated("Say in `reason` what should be changed.", rule="BID-12", field="reason")
    elif verb == "reopen" and not workspaces.is_manager(work, workspace):
        raise Forbidden(
            "Only the bid manager can reopen sections.",
            action=work.origin.action,
            reasonCode="not_the_manager",
        )
    if SectionLifecycle.moves[verb](section, at=work.now):
        person = workspaces.person_of(work)
        if verb == "approve":
            section.approved_version, section.approved_by = section.version_number, person
            section.authors = []
        explain(section, at=work.now, by=person, code=verb, text=reason)
        await work.save(section)
        work.publish(section_changed(workspace, section))
    return section


async def _check_approval(work: Work, workspace: Workspace, section: Section) -> None:
    if same_person(work, *map(UUID, section.authors)):
        raise SamePerson("You wrote part of this text, so someone else must approve it.")
    check_limit(section)
    about = ("section", str(section.id))
    if await workspaces.open_blocking_comments(work, workspace.id, subject=about):
        raise BidCommentsOpen()


def check_limit(section: Section) -> None:
    """Refuse a text over its limit; a page counts as 450 words."""
    pages = -(-section.words // WORDS_PER_PAGE)
    for most, used in ((section.limit_words, section.words), (section.limit_pages, pages)):
        if most is not None and used > most:
            raise BidLimitExceeded(limit=most, used=used)


async def get_section(
    read: Reader, section_id: UUID, number: int | None = None
) -> tuple[Section, SectionVersion | None]:
    """A section with one version of its text, the current one if none is named."""
    section = await read.get(Section, section_id)
    await check_envelope(read, await read.get(Draft, section.draft_id))
    wanted = section.version_number if number is None else number
    version = await read.find(SectionVersion, section_id=section.id, number=wanted)
    if version is None and number is not None:
        raise RuleViolated("There is no such version.", rule="BID-11", field="versionNumber")
    return section, version


async def current_text(read: Reader, section: Section) -> SectionVersion | None:
    """The newest version of a section that the caller was shown already."""
    number = section.version_number
    return await read.find(SectionVersion, section_id=section.id, number=number)


async def versions_of(read: Reader, section_id: UUID) -> list[SectionVersion]:
    """The versions of a section, the newest first."""
    statement = select(SectionVersion).where(SectionVersion.section_id == section_id)
    return await read.all(statement.order_by(SectionVersion.number.desc()), limit=200)


async def pass_to_manager(work: Work, user_id: UUID) -> None:
    """Sections of somebody who is no member any more pass to the bid manager (BID-9)."""
    statement = select(Section).where(Section.owner_user_id == user_id)
    for found in await work.all(statement, limit=10_000):
        section = await work.hold(found)
        workspace = await work.get(Workspace, section.workspace_id)
        section.owner_user_id = workspace.bid_manager_user_id
        await work.save(section)
        work.publish(section_changed(workspace, section))
