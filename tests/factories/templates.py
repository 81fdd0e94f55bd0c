"""Own templates of an organization, with drafts of somebody who is not the caller."""

from uuid import UUID, uuid4

from sqlalchemy import func, select

from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates.versions import columns_of
from thenga.domains.notification.tables import Template, TemplateVersion, VersionStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host

TOPIC = "billing.receipt"
_RENAMED = """
    UPDATE notification.template SET template_key = id::text
    WHERE organization_id = $1 AND template_key = $2
"""


def working(host: Host, organization_id: UUID) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    return Work(host, "notification", scope, origin)


async def template_with_draft(host: Host, organization_id: UUID) -> tuple[UUID, int]:
    """The organization's template of one topic, and the number of a new draft."""
    work = working(host, organization_id)
    await work.run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"template {organization_id}"
    )
    template = await work.find(Template, organization_id=organization_id, template_key=TOPIC)
    if template is None:
        template = await work.add(
            Template(
                organization_id=organization_id,
                template_key=TOPIC,
                topic_code=TOPIC,
                name="Our receipt",
            )
        )
    last = await work.value(
        select(func.max(TemplateVersion.number)).where(TemplateVersion.template_id == template.id)
    )
    number = (last or 0) + 1
    await work.add(
        TemplateVersion(
            organization_id=organization_id,
            template_id=template.id,
            number=number,
            status=VersionStatus.DRAFT,
            author_id=uuid4(),
            **columns_of(templates.platform_content(TOPIC)),
        )
    )
    await work.finish()
    return template.id, number


async def without_template(host: Host, organization_id: UUID, template_key: str) -> None:
    """The key is free again: an earlier template of this key has another one from now on."""
    work = working(host, organization_id)
    await work.run(_RENAMED, organization_id, template_key)
    await work.finish()
