"""Templates and their versions: the platform's, and an organization's own (NOT-23)."""

import hashlib
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select

from thenga.domains.notification.services.templates.contents import Content
from thenga.domains.notification.tables import Template, TemplateVersion, VersionStatus
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import NoticeRow
from thenga.kernel.values.json_writer import to_json


@dataclass(frozen=True, slots=True)
class Approved:
    """The version of a template that is rendered now."""

    template_id: UUID
    number: int
    content: Content


async def approved(read: Reader, template_key: str) -> Approved | None:
    """The organization's own approved version, else the platform's; a draft never (NOT-23)."""
    statement = (
        select(TemplateVersion)
        .join(Template, Template.id == TemplateVersion.template_id)
        .where(
            Template.template_key == template_key,
            TemplateVersion.status == VersionStatus.APPROVED,
            readable(read, TemplateVersion),
        )
        .order_by(TemplateVersion.shared)
    )
    found = await read.all(statement, limit=1)
    if not found:
        return None
    return Approved(found[0].template_id, found[0].number, content_of(found[0]))


def readable(read: Reader, row: type[NoticeRow]) -> ColumnElement[bool]:
    """Rows of the caller's organization and those that the platform shares."""
    return or_(
        row.organization_id == read.organization_id,
        row.shared.is_(True) & (row.organization_id == OPERATOR),
    )


def content_of(version: TemplateVersion) -> Content:
    """The variables and texts of a stored version."""
    return Content.model_validate({"variables": version.variables, "texts": version.content})


def columns_of(content: Content) -> dict[str, Any]:
    """A content as a version stores it."""
    variables = [one.model_dump(mode="json") for one in content.variables]
    texts = {tag: one.model_dump(mode="json") for tag, one in content.texts.items()}
    digest = hashlib.sha256(to_json([variables, texts])).hexdigest()
    return {"variables": variables, "content": texts, "content_hash": digest}
