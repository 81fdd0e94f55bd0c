"""Drafts of proposals."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.parameters import DraftId, WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import proposals
from thenga.domains.bid.services.workspaces import (
    BidAlreadySubmitted,
    BidPersonNotInTeam,
    BidPersonUnknown,
    BidSealed,
)
from thenga.domains.bid.tables import Draft, Section, SectionStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Duplicate, RuleViolated
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text, whole

router = make_router("Bid / Proposals")

Envelope = Literal["technical", "financial"]
SectionTitle = Annotated[str, text(1, 160), Field(description="Title of the section.")]
Instructions = Annotated[
    Annotated[str, lines(1, 5000)] | None, Field(description="Instructions for the author.")
]
SectionOwner = Annotated[UUID | None, Field(description="Person responsible.")]
RequirementIds = Annotated[
    list[UUID], Field(max_length=50, description="Requirements that the section answers.")
]


class SectionLimit(Body):
    """Maximum length of a text in words, pages or both."""

    words: Annotated[
        Annotated[int, whole(1, 100_000)] | None, Field(description="Maximum words.")
    ] = None
    pages: Annotated[
        Annotated[int, whole(1, 1000)] | None,
        Field(description="Maximum pages. A page counts as 450 words."),
    ] = None


class DraftSection(Body):
    """A section of a new draft."""

    title: SectionTitle
    instructions: Instructions = None
    owner_user_id: SectionOwner = None
    limit: Annotated[SectionLimit | None, Field(description="Maximum length.")] = None
    requirement_ids: RequirementIds = []


class CreateBidDraft(Body):
    """A document of the proposal."""

    title: Annotated[str, text(1, 160), Field(description="Title. Must be unique in the bid.")]
    envelope: Annotated[Envelope, Field(description="Envelope it belongs to.")] = "technical"
    sections: Annotated[
        list[DraftSection], Field(max_length=60, description="Sections in order.")
    ] = []
    from_tender: Annotated[
        bool, Field(description="Add a section for each scored criterion of the tender.")
    ] = False


class SectionLimitView(View):
    """Maximum length of a text."""

    words: Annotated[int | None, Field(description="Maximum words.")]
    pages: Annotated[int | None, Field(description="Maximum pages.")]


class BidSectionRow(Stored):
    """A section without its text."""

    draft_id: Annotated[UUID, Field(description="Draft that it belongs to.")]
    title: Annotated[str, Field(description="Title of the section.")]
    position: Annotated[int, Field(description="Position in the draft.")]
    owner_user_id: SectionOwner
    limit: Annotated[SectionLimitView | None, Field(description="Maximum length.")]
    requirement_ids: Annotated[
        list[UUID], Field(description="Requirements that the section answers.")
    ]
    version_number: Annotated[int, Field(description="Number of the current version, or 0.")]
    sha256: Annotated[str | None, Field(description="SHA-256 of the current text.")]
    words: Annotated[int, Field(description="Words in the current text.")]
    status: SectionStatus

    @classmethod
    def of(cls, section: Section) -> "BidSectionRow":
        return cls.model_validate(section.__dict__ | {"limit": limit_of(section)})


def limit_of(section: Section) -> dict[str, int | None] | None:
    """The limit of a section as it is shown."""
    if section.limit_words is None and section.limit_pages is None:
        return None
    return {"words": section.limit_words, "pages": section.limit_pages}


class BidDraftView(Stored):
    """A draft with its sections."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    title: Annotated[str, Field(description="Title of the draft.")]
    envelope: Annotated[Envelope, Field(description="Envelope it belongs to.")]
    status: Annotated[SectionStatus, Field(description="Status of the section furthest behind.")]
    sections: Annotated[list[BidSectionRow], Field(description="Sections in order.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/drafts/{self.id}"

    @classmethod
    def of(cls, draft: Draft, sections: list[Section]) -> "BidDraftView":
        more = {
            "status": proposals.status_of(sections),
            "sections": [BidSectionRow.of(one) for one in sections],
        }
        return cls.model_validate(draft.__dict__ | more)


def section_columns(fields: dict[str, Any]) -> dict[str, Any]:
    """The columns of the fields of a section that were sent."""
    if "limit" in fields:
        limit: SectionLimit | None = fields.pop("limit")
        fields["limit_words"] = None if limit is None else limit.words
        fields["limit_pages"] = None if limit is None else limit.pages
    if "requirement_ids" in fields:
        fields["requirement_ids"] = [str(one) for one in fields["requirement_ids"]]
    return fields


@router.post(
    "/bids/workspaces/{workspaceId}/drafts",
    status_code=201,
    responses=problems(
        Duplicate,
        BidPersonUnknown,
        BidPersonNotInTeam,
        BidSealed,
        BidAlreadySubmitted,
        Conflict,
        RuleViolated,
    ),
)
async def create_bid_draft(
    workspace_id: WorkspaceId,
    body: CreateBidDraft,
    work: Annotated[Work, writes(Permission.DRAFT_CREATE)],
) -> BidDraftView:
    """Create a draft with its sections, or with a section for each scored criterion."""
    sections = [
        section_columns({name: getattr(one, name) for name in type(one).model_fields})
        for one in body.sections
    ]
    draft, made = await proposals.create_draft(
        work,
        workspace_id,
        title=body.title,
        envelope=body.envelope,
        sections=sections,
        from_tender=body.from_tender,
    )
    return BidDraftView.of(draft, made)


@router.get("/bids/drafts/{draftId}")
async def get_bid_draft(
    draft_id: DraftId, read: Annotated[Reader, reads(Permission.SECTION_READ)]
) -> BidDraftView:
    """Retrieve a draft with its sections, without their texts."""
    draft, sections = await proposals.get_draft(read, draft_id)
    return BidDraftView.of(draft, sections)
