"""Own templates of an organization, with drafts of somebody who is not the caller."""

from uuid import UUID, uuid4

from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates.versions import columns_of
from thenga.domains.notification.tables import Template, TemplateVersion, VersionStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

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
    """A template with one draft. Its key is its own, so that parallel calls share nothing."""
    work = working(host, organization_id)
    template = await work.add(
        Template(
            organization_id=organization_id,
            template_key=str(uuid4()),
            topic_code=TOPIC,
            name="Our receipt",
        )
    )
    await work.add(
        TemplateVersion(
            organization_id=organization_id,
            template_id=template.id,
            number=1,
            status=VersionStatus.DRAFT,
            author_id=uuid4(),
            **columns_of(templates.platform_content(TOPIC)),
        )
    )
    await work.finish()
    return template.id, 1


async def without_template(host: Host, organization_id: UUID, template_key: str) -> None:
    """The key is free again: an earlier template of this key has another one from now on."""
    work = working(host, organization_id)
    await work.run(_RENAMED, organization_id, template_key)
    await work.finish()
