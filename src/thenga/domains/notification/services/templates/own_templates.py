"""An organization's own templates: drafts that another person approves (NOT-23)."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import asyncpg
from sqlalchemy import ColumnElement, func, select

from thenga.domains.notification.lifecycles import TemplateVersionLifecycle
from thenga.domains.notification.services.templates.checks import check_complete, check_saving
from thenga.domains.notification.services.templates.contents import Content, Language
from thenga.domains.notification.services.templates.topic_catalogue import Topic, find_topic, topics
from thenga.domains.notification.services.templates.versions import (
    columns_of,
    content_of,
    readable,
)
from thenga.domains.notification.tables import Template, TemplateVersion, VersionStatus
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated, SamePerson

Owner = Literal["platform", "organization"]
MOST_SHOWN = 100  # versions of a template, the newest first
SORTS: dict[str, ColumnElement[Any]] = {
    "templateKey": Template.__table__.c.template_key,
    "updatedAt": Template.__table__.c.updated_at,
}


@dataclass(frozen=True, slots=True)
class TemplateSummary:
    """A template with the numbers of its newest version and of the one in use."""

    template: Template
    latest_version: int
    approved_version: int | None

    @property
    def owner(self) -> Owner:
        return "platform" if self.template.shared else "organization"


@dataclass(frozen=True, slots=True)
class TemplateDetail:
    """A template with its newest versions."""

    summary: TemplateSummary
    versions: list[TemplateVersion]


async def list_templates(
    read: Reader,
    paged: Paged,
    *,
    topic_code: str | None = None,
    owner: Owner | None = None,
    status: VersionStatus | None = None,
    language: Language | None = None,
) -> tuple[list[TemplateSummary], str | None]:
    """The platform's templates and the organization's own, page by page."""
    statement = select(Template).where(readable(read, Template))
    if owner is not None:
        statement = statement.where(Template.shared.is_(owner == "platform"))
    if status is not None or language is not None:
        statement = statement.where(_has_version(status, language))
    statement = where_given(statement, (Template.topic_code, topic_code))
    page = await read.page(statement, paged, SORTS[paged.sort])
    return await _summarize(read, page.items), page.next_cursor


def _has_version(status: VersionStatus | None, language: Language | None) -> ColumnElement[bool]:
    versions = TemplateVersion.__table__
    statement = select(versions.c.id).where(versions.c.template_id == Template.__table__.c.id)
    if status is not None:
        statement = statement.where(versions.c.status == status)
    if language is not None:
        statement = statement.where(versions.c.content.has_key(language))
    return statement.exists()


async def _summarize(read: Reader, found: list[Template]) -> list[TemplateSummary]:
    """Templates with their numbers, in one statement."""
    versions = TemplateVersion.__table__
    is_approved = versions.c.status == VersionStatus.APPROVED
    statement = (
        select(
            versions.c.template_id,
            func.max(versions.c.number).label("latest"),
            func.max(versions.c.number).filter(is_approved).label("approved"),
        )
        .where(
            among(TemplateVersion.template_id, [one.id for one in found]),
            readable(read, TemplateVersion),
        )
        .group_by(versions.c.template_id)
    )
    numbers = {one["template_id"]: one for one in await read.records(statement)}
    return [
        TemplateSummary(one, numbers[one.id]["latest"], numbers[one.id]["approved"])
        for one in found
    ]


async def get_template(read: Reader, template_id: UUID) -> TemplateDetail:
    """A template of the platform or of the organization, with its newest versions."""
    own = select(Template).where(Template.id == template_id, readable(read, Template))
    found = await read.all(own, limit=1)
    if not found:
        raise NotFound()
    return await _detail(read, found[0])


async def _detail(read: Reader, template: Template) -> TemplateDetail:
    (summary,) = await _summarize(read, [template])
    newest = (
        select(TemplateVersion)
        .where(TemplateVersion.template_id == template.id, readable(read, TemplateVersion))
        .order_by(TemplateVersion.number.desc())
    )
    return TemplateDetail(summary, await read.all(newest, limit=MOST_SHOWN))


async def create_template(
    work: Work, *, topic_code: str, name: str, content: Content
) -> TemplateDetail:
    """An own template for a topic, with version 1 as a draft."""
    topic = _changeable(topic_code)
    check_saving(topic, content)
    template = Template(
        organization_id=work.organization_id,
        template_key=topic.template_key,
        topic_code=topic.code,
        name=name,
    )
    try:
        await work.add(template)
    except asyncpg.UniqueViolationError:
        raise await _duplicate(work, topic) from None
    await _add_version(work, template, 1, content)
    return await _detail(work, template)


def _changeable(topic_code: str) -> Topic:
    """A topic whose text an organization may write.

    Required messages also go to addresses that nobody has proved, which get none of a stranger's
    words (SEC-66).
    """
    topic = find_topic(topic_code)
    if topic.category == "security":
        raise RuleViolated("Security messages always use the platform's text.", rule="NOT-27")
    if topic.mandatory:
        raise RuleViolated("Required messages always use the platform's text.", rule="NOT-9")
    return topic


async def _duplicate(work: Work, topic: Topic) -> Duplicate:
    """The refusal names the existing one; our own transaction can read no more."""
    async with work.separate_reader() as reader:
        found = await reader.find(
            Template, organization_id=work.organization_id, template_key=topic.template_key
        )
    return Duplicate(
        "Your organization already has a template for this topic. Add a version to it.",
        field="topicCode",
        existing={"id": str(found.id)} if found else None,
    )


async def add_version(work: Work, template_id: UUID, content: Content) -> TemplateDetail:
    """Another draft of an own template."""
    template = await _lock(work, template_id)
    check_saving(topics()[template.topic_code], content)
    last = await work.value(
        select(func.max(TemplateVersion.number)).where(
            TemplateVersion.template_id == template.id,
            TemplateVersion.organization_id == work.organization_id,
        )
    )
    await _add_version(work, template, (last or 0) + 1, content)
    await work.touch(template)
    return await _detail(work, template)


async def _lock(work: Work, template_id: UUID) -> Template:
    """Lock an own template; those of the platform and of others are not found."""
    return await work.lock_by(Template, id=template_id, organization_id=work.organization_id)


async def _add_version(work: Work, template: Template, number: int, content: Content) -> None:
    await work.add(
        TemplateVersion(
            organization_id=template.organization_id,
            template_id=template.id,
            number=number,
            status=VersionStatus.DRAFT,
            author_id=work.actor.person_id,
            **columns_of(content),
        )
    )


async def approve_version(work: Work, template_id: UUID, number: int) -> TemplateDetail:
    """Approve a draft of somebody else. The version approved before is superseded with it."""
    template = await _lock(work, template_id)
    version = await work.lock_by(
        TemplateVersion,
        beside=True,
        organization_id=work.organization_id,
        template_id=template_id,
        number=number,
    )
    refuse_author(work, version)
    check_complete(topics()[template.topic_code], content_of(version))
    if TemplateVersionLifecycle.approve(version, at=work.now):
        await _supersede(work, template)
        version.approved_by, version.approved_at = work.actor.id, work.now
        await work.save(version)
        await work.touch(template)
    return await _detail(work, template)


def refuse_author(work: Work, version: TemplateVersion) -> None:
    """Nobody approves their own text."""
    if same_person(work, version.author_id):
        raise SamePerson("You wrote this version, so someone else must approve it.")


async def _supersede(work: Work, template: Template) -> None:
    """The lock of the template keeps two approvals apart."""
    current = await work.find(
        TemplateVersion,
        organization_id=work.organization_id,
        template_id=template.id,
        status=VersionStatus.APPROVED,
    )
    if current is not None:
        await work.hold(current)
        TemplateVersionLifecycle.supersede(current, at=work.now)
        await work.save(current)
