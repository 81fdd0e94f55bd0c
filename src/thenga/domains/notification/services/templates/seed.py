"""Loads the platform's templates from `content/templates` as approved versions, at deployment."""

from uuid import UUID, uuid5

from thenga.domains.notification.lifecycles import TemplateVersionLifecycle
from thenga.domains.notification.services.templates.checks import check_complete, check_saving
from thenga.domains.notification.services.templates.contents import platform_content
from thenga.domains.notification.services.templates.topics import Topic, topics
from thenga.domains.notification.services.templates.versions import columns_of
from thenga.domains.notification.tables import Template, TemplateVersion, VersionStatus
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work

_IDS = UUID("019a0000-0000-7000-8000-00000007e391")


async def seed(work: Work) -> None:
    """Load every platform template; a text that changed becomes the next approved version."""
    for topic in topics().values():
        await _seed(work, topic)


async def _seed(work: Work, topic: Topic) -> None:
    content = platform_content(topic.template_key)
    check_saving(topic, content)
    check_complete(topic, content)
    columns = columns_of(content)
    template = await _template(work, topic)
    current = await work.find(
        TemplateVersion, template_id=template.id, status=VersionStatus.APPROVED
    )
    if current is not None and current.content_hash == columns["content_hash"]:
        return
    if current is not None:
        await work.hold(current)
        TemplateVersionLifecycle.supersede(current, at=work.now)
        await work.save(current)
    await work.add(
        TemplateVersion(
            organization_id=OPERATOR,
            shared=True,
            template_id=template.id,
            number=current.number + 1 if current else 1,
            status=VersionStatus.APPROVED,
            approved_at=work.now,
            **columns,
        )
    )


async def _template(work: Work, topic: Topic) -> Template:
    found = await work.find(Template, id=uuid5(_IDS, topic.template_key))
    return found or await work.add(
        Template(
            id=uuid5(_IDS, topic.template_key),
            organization_id=OPERATOR,
            shared=True,
            template_key=topic.template_key,
            topic_code=topic.code,
            name=topic.title,
        )
    )
