"""Templates and their versions."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.notification.lifecycles import TemplateVersionLifecycle
from thenga.domains.notification.permissions import Permission
from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates import (
    Content,
    Language,
    LanguageMissing,
    Owner,
    TemplateDetail,
    TemplateSummary,
    TemplateSyntax,
    TemplateTooLong,
    TopicUnknown,
    VariableType,
)
from thenga.domains.notification.tables import TemplateVersion, VersionStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Name, lines, matching, text, whole

router = make_router("Notification / Templates")

TemplateId = Annotated[UUID, Path(alias="templateId")]
VersionNumber = Annotated[
    int, Path(alias="number", ge=1, le=2**31 - 1, description="Number of the version.")
]
TopicCode = Annotated[str, matching(r"^[a-z]+\.[a-z_]{1,60}$", 80)]
Title = Annotated[str, text(1, 200), Field(description="Title, on one line.")]
Subject = Annotated[str, text(1, 200), Field(description="Subject, on one line.")]
_MARKDOWN = "Markdown without HTML. `{{name}}` is replaced by a variable."
MarkdownText = Annotated[str, lines(1, 20_000), Field(description=_MARKDOWN)]


class VariableBody(Body):
    """A variable that texts can use."""

    name: Annotated[str, matching("^[a-z][A-Za-z0-9]{0,39}$", 40)]
    type: Annotated[
        Literal["text", "integer", "decimal", "money", "date", "instant", "url"],
        Field(description="Type of the value, which determines how it is shown."),
    ] = "text"
    max_length: Annotated[int, whole(1, 4000), Field(description="Maximum length of a value.")] = (
        200
    )
    required: Annotated[bool, Field(description="Whether a request must include the value.")] = True
    default: Annotated[
        str, text(0, 200), Field(description="Value if a request does not include one.")
    ] = ""
    example: Annotated[str, text(1, 200), Field(description="Value for previews.")]


class InAppBody(Body):
    """Text in the inbox."""

    title: Title
    body: MarkdownText
    action_label: Annotated[
        Annotated[str, text(1, 40)] | None, Field(description="Label of the button, if any.")
    ] = None


class EmailBody(Body):
    """Text of an email."""

    subject: Subject
    preheader: Annotated[
        str,
        text(0, 200),
        Field(description="Preview line that mail programs show next to the subject."),
    ] = ""
    body: MarkdownText


class SmsBody(Body):
    """Text of an SMS."""

    body: Annotated[str, text(1, 1000), Field(description="One line of plain text.")]


class TextsBody(Body):
    """Texts of one language, by channel."""

    in_app: Annotated[InAppBody | None, Field(description="Text in the inbox.")] = None
    email: Annotated[EmailBody | None, Field(description="Text of an email.")] = None
    sms: Annotated[SmsBody | None, Field(description="Text of an SMS.")] = None


class AddVersion(Body):
    """Variables and texts of a version."""

    variables: Annotated[
        list[VariableBody],
        Field(
            max_length=40, description="Variables, including all those of the platform's template."
        ),
    ] = []
    content: Annotated[
        dict[Language, TextsBody],
        Field(min_length=1, max_length=11, description="Texts by language and channel."),
    ]

    def parsed(self) -> Content:
        given = self.model_dump(include={"variables", "content"})
        return Content.model_validate({"variables": given["variables"], "texts": given["content"]})


class CreateTemplate(AddVersion):
    """Template of your organization for one topic."""

    topic_code: Annotated[TopicCode, Field(description="Topic whose messages use the template.")]
    name: Name


class VariableView(View):
    """A variable that texts can use."""

    name: str
    type: Annotated[VariableType, Field(description="Type of the value.")]
    max_length: Annotated[int, Field(description="Maximum length of a value.")]
    required: Annotated[bool, Field(description="Whether a request must include the value.")]
    default: Annotated[str, Field(description="Value if a request does not include one.")]
    example: Annotated[str, Field(description="Value for previews.")]


class InAppView(View):
    """Text in the inbox."""

    title: Annotated[str, Field(description="Title, on one line.")]
    body: Annotated[str, Field(description=_MARKDOWN)]
    action_label: Annotated[str | None, Field(description="Label of the button, if any.")]


class EmailView(View):
    """Text of an email."""

    subject: Annotated[str, Field(description="Subject, on one line.")]
    preheader: Annotated[
        str, Field(description="Preview line that mail programs show next to the subject.")
    ]
    body: Annotated[str, Field(description=_MARKDOWN)]


class SmsView(View):
    """Text of an SMS."""

    body: Annotated[str, Field(description="One line of plain text.")]


class TextsView(View):
    """Texts of one language, by channel."""

    in_app: Annotated[InAppView | None, Field(description="Text in the inbox.")]
    email: Annotated[EmailView | None, Field(description="Text of an email.")]
    sms: Annotated[SmsView | None, Field(description="Text of an SMS.")]


class SizeView(View):
    """Size of one text with the longest possible values."""

    language: Annotated[str, Field(description="Language of the text.")]
    channel_kind: Annotated[str, Field(description="Channel of the text.")]
    bytes: Annotated[int, Field(description="Maximum size of the text in bytes.")]


class VersionView(View):
    """A version of a template. Only the approved version is used."""

    number: Annotated[int, Field(description="Number of the version, from 1.")]
    status: VersionStatus
    variables: Annotated[list[VariableView], Field(description="Variables that texts can use.")]
    content: Annotated[dict[str, TextsView], Field(description="Texts by language and channel.")]
    sizes: Annotated[list[SizeView], Field(description="Size of each text.")]
    content_hash: Annotated[str, Field(description="SHA-256 of variables and texts.")]
    author_id: Annotated[UUID | None, Field(description="Author. Null for the platform's own.")]
    approved_by: Annotated[UUID | None, Field(description="Approver.")]
    approved_at: Annotated[datetime | None, Field(description="Time of the approval.")]
    created_at: datetime
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, version: TemplateVersion, now: datetime) -> "VersionView":
        sizes = templates.worst_case(templates.content_of(version))
        return cls.model_validate(
            version.__dict__
            | {
                "sizes": [
                    {"language": tag, "channel_kind": kind, "bytes": size}
                    for (tag, kind), size in sizes.items()
                ],
                "allowed_moves": TemplateVersionLifecycle.allowed(version, now),
            }
        )


class TemplateView(Stored):
    """A template of a topic. `owner` says whether it is the platform's or your own."""

    organization_id: Annotated[UUID, Field(description="Organization that owns the template.")]
    template_key: Annotated[str, Field(description="Key of the topic that uses the template.")]
    topic_code: Annotated[str, Field(description="Topic whose messages use the template.")]
    name: str
    owner: Annotated[Owner, Field(description="`platform` templates cannot be changed.")]
    approved_version: Annotated[
        int | None, Field(description="Number of the version in use. Null before the first.")
    ]
    latest_version: Annotated[int, Field(description="Number of the newest version.")]

    @classmethod
    def of(cls, summary: TemplateSummary) -> "TemplateView":
        return cls.shown(_values(summary))


class TemplateDetailView(TemplateView):
    """A template with its newest 100 versions."""

    versions: Annotated[list[VersionView], Field(description="Versions, newest first.")]

    @property
    def own_path(self) -> str:
        """Where the template is read again; a version is read with it."""
        return f"{PREFIX}/notifications/templates/{self.id}"

    @classmethod
    def whole(cls, detail: TemplateDetail, now: datetime) -> "TemplateDetailView":
        versions = [VersionView.of(one, now) for one in detail.versions]
        return cls.shown(_values(detail.summary) | {"versions": versions})


def _values(summary: TemplateSummary) -> dict[str, object]:
    return summary.template.__dict__ | {
        "owner": summary.owner,
        "approved_version": summary.approved_version,
        "latest_version": summary.latest_version,
    }


@router.get("/notifications/templates")
async def list_templates(
    read: Annotated[Reader, reads(Permission.TEMPLATE_READ)],
    page: Annotated[Paged, paged("templateKey", "updatedAt")],
    topic_code: Annotated[
        TopicCode | None, Query(alias="topicCode", description="Filter by topic.")
    ] = None,
    owner: Annotated[Owner | None, Query(description="Filter by owner.")] = None,
    status: Annotated[
        VersionStatus | None, Query(description="Only templates with a version in this status.")
    ] = None,
    language: Annotated[
        Language | None, Query(description="Only templates with a text in this language.")
    ] = None,
) -> PageOf[TemplateView]:
    """List the platform's templates and those of your organization."""
    found, after = await templates.list_templates(
        read, page, topic_code=topic_code, owner=owner, status=status, language=language
    )
    return PageOf[TemplateView](items=[TemplateView.of(one) for one in found], next_cursor=after)


@router.post(
    "/notifications/templates",
    status_code=201,
    responses=problems(Duplicate, TemplateSyntax, TemplateTooLong, TopicUnknown, RuleViolated),
)
async def create_template(
    body: CreateTemplate, work: Annotated[Work, writes(Permission.TEMPLATE_CREATE)]
) -> TemplateDetailView:
    """Create your organization's own template for a topic. Version 1 is a draft.

    Someone else must approve it before messages use it; until then the platform's text is used.
    """
    made = await templates.create_template(
        work, topic_code=body.topic_code, name=body.name, content=body.parsed()
    )
    return TemplateDetailView.whole(made, work.now)


@router.get("/notifications/templates/{templateId}")
async def get_template(
    template_id: TemplateId, read: Annotated[Reader, reads(Permission.TEMPLATE_READ)]
) -> TemplateDetailView:
    """Retrieve a template with its versions."""
    return TemplateDetailView.whole(await templates.get_template(read, template_id), read.now)


@router.post(
    "/notifications/templates/{templateId}/versions",
    status_code=201,
    responses=problems(TemplateSyntax, TemplateTooLong),
)
async def add_template_version(
    template_id: TemplateId,
    body: AddVersion,
    work: Annotated[Work, writes(Permission.TEMPLATE_UPDATE)],
) -> TemplateDetailView:
    """Add a draft to a template of your organization. The approved version stays in use."""
    made = await templates.add_version(work, template_id, body.parsed())
    return TemplateDetailView.whole(made, work.now)


@router.post(
    "/notifications/templates/{templateId}/versions/{number}/approve",
    responses=problems(SamePerson, LanguageMissing, InvalidTransition),
)
async def approve_template_version(
    template_id: TemplateId,
    number: VersionNumber,
    work: Annotated[Work, writes(Permission.TEMPLATE_APPROVE)],
) -> TemplateDetailView:
    """Approve a draft that someone else wrote. Messages use it from now on.

    The previously approved version is superseded. Every channel of the topic needs an English
    text.
    """
    made = await templates.approve_version(work, template_id, number)
    return TemplateDetailView.whole(made, work.now)
