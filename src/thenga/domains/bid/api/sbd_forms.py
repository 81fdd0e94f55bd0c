"""Forms of bids."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.findings import BidFindingView
from thenga.domains.bid.api.form_bodies import AddSbdForms, ChangeSbdForm, SignSbdForm
from thenga.domains.bid.api.parameters import FormId, WorkspaceId
from thenga.domains.bid.lifecycles import FormLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import forms, workspaces
from thenga.domains.bid.services.forms import (
    AnswerInvalid,
    Change,
    DeclarationContradiction,
    EditionNotInForce,
    ESignatureRefused,
    FormIncomplete,
    FormUnknown,
    RenderingChanged,
    Shown,
    Signing,
    SigningAuthorityMissing,
    Wanted,
)
from thenga.domains.bid.services.workspaces import BidAlreadySubmitted, BidSealed
from thenga.domains.bid.tables import FormStatus, SbdForm, Signature
from thenga.domains.bid.values.forms import AnswerState, Filled
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    FileNotClean,
    InvalidTransition,
    RuleViolated,
    SamePerson,
    StaleVersion,
)
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems

router = make_router("Bid / Forms")


class FormReferenceView(View):
    """Source that an answer cites."""

    domain: Annotated[str, Field(description="Domain of the resource.")]
    type: Annotated[str, Field(description="Type of the resource.")]
    id: Annotated[str, Field(description="ID of the resource.")]
    version: Annotated[int, Field(description="Cited version.")]


class DeclaredDirectorView(View):
    """A director who is employed by the state."""

    director_id: Annotated[UUID, Field(description="Director of the company.")]
    institution: Annotated[str, Field(description="Name of the state institution.")]


class ClaimedGoalView(View):
    """Points claimed for a specific goal in either system."""

    claim_8020: Annotated[Decimal | None, Field(description="Points under 80/20.")]
    claim_9010: Annotated[Decimal | None, Field(description="Points under 90/10.")]
    proof: Annotated[str | None, Field(description="Evidence or file that proves it.")]


class FormPriceLineView(View):
    """A price item as printed on the form."""

    key: Annotated[str, Field(description="Key of the price item.")]
    quantity: Annotated[str, Field(description="Quantity and unit.")]
    description: Annotated[str, Field(description="Description.")]
    price: Annotated[str, Field(description="Price including all taxes, less discounts.")]


class FormAnswerView(View):
    """Answer to a field, in the member for its type. Null if missing or withheld."""

    value: Annotated[str | None, Field(description="Text, date, choice, `yes` or `no`.")]
    accept: Annotated[bool | None, Field(description="Whether the statements are accepted.")]
    directors: Annotated[
        list[DeclaredDirectorView] | None, Field(description="Declared directors.")
    ]
    goals: Annotated[dict[str, ClaimedGoalView] | None, Field(description="Points by goal.")]
    lines: Annotated[list[FormPriceLineView] | None, Field(description="Price items.")]
    mask: Annotated[str | None, Field(description="Placeholder for a value that is not shown.")]
    source: Annotated[
        Literal["person", "reference"] | None, Field(description="Source of the answer.")
    ]
    ref: Annotated[FormReferenceView | None, Field(description="Source that the answer cites.")]
    provenance: Annotated[str | None, Field(description="Provenance of the value.")]
    warning: Annotated[str | None, Field(description="Warning about the source.")]
    state: Annotated[AnswerState, Field(description="Status of the answer.")]
    confirmed_by: Annotated[UUID | None, Field(description="Person who confirmed it.")]
    confirmed_at: Annotated[datetime | None, Field(description="Time of the confirmation.")]

    @classmethod
    def of(cls, one: Filled, *, withheld: bool) -> "FormAnswerView":
        answer = one.answer
        ref = answer.ref or (one.known.ref if one.known is not None else None)
        cites = answer.ref is not None or (not answer.is_confirmed and ref is not None)
        is_reference = cites and answer.value is None
        source = "reference" if is_reference else "person" if answer.is_confirmed else None
        hidden = withheld or (one.field.sealed and one.field.type == "text")
        member = _MEMBERS.get(one.field.type, "value")
        return cls.model_validate(
            {
                **dict.fromkeys(("value", *_MEMBERS.values())),
                member: None if hidden else one.value,
                "mask": "••••" if hidden and ref is not None else None,
                "source": source,
                "ref": ref if is_reference else None,
                "provenance": answer.provenance,
                "warning": None if one.known is None else one.known.warning,
                "state": one.state,
                "confirmed_by": answer.confirmed_by,
                "confirmed_at": answer.confirmed_at,
            }
        )


# Where the answers of a type stand; all others are text.
_MEMBERS = {
    "accept": "accept",
    "directors": "directors",
    "goals": "goals",
    "price_lines": "lines",
}


class FormRenderingView(View):
    """A printed form."""

    file_id: Annotated[UUID, Field(description="File of the printed form.")]
    sha256: Annotated[str, Field(description="SHA-256 of the printed form.")]
    pages: Annotated[int | None, Field(description="Number of pages.")]
    renderer: Annotated[str | None, Field(description="Renderer used.")]


class FormSignatureView(View):
    """A signature on a form."""

    id: UUID
    signer_user_id: Annotated[UUID, Field(description="Person who signed.")]
    method: Annotated[str, Field(description="How it was signed.")]
    capacity: Annotated[str, Field(description="Capacity of the signer.")]
    rendering_sha256: Annotated[str, Field(description="SHA-256 of the signed print.")]
    payload_sha256: Annotated[str, Field(description="SHA-256 of the signature itself.")]
    file_id: Annotated[UUID | None, Field(description="Scan of the signed form.")]
    signed_at: Annotated[datetime, Field(description="Time of the signature.")]
    checked_by: Annotated[UUID | None, Field(description="Person who verified it.")]
    checked_at: Annotated[datetime | None, Field(description="Time of the verification.")]
    voided_at: Annotated[datetime | None, Field(description="Time at which it became void.")]
    void_reason: Annotated[str | None, Field(description="Why it became void.")]


class FormDirectorView(View):
    """A director who can be named in a declaration."""

    director_id: Annotated[str, Field(description="ID of the director.")]
    name: Annotated[str, Field(description="Name of the director.")]


class SbdFormCard(Stored):
    """Summary of a form."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    form_code: Annotated[str, Field(description="Code of the form, or `BUYER`.")]
    edition: Annotated[str, Field(description="Edition of the form.")]
    title: Annotated[str, Field(description="Title of the form.")]
    bidder_key: Annotated[str, Field(description="Key of the joint bidder, or empty.")]
    status: FormStatus


class SbdFormView(SbdFormCard):
    """A form of a bid with its answers, findings and signatures."""

    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the status change.")]
    status_changed_by: Annotated[UUID | None, Field(description="User who changed the status.")]
    justification: Annotated[str | None, Field(description="Why the form does not apply.")]
    file_id: Annotated[UUID | None, Field(description="File of a buyer's own form.")]
    answers: Annotated[dict[str, FormAnswerView], Field(description="Answers by field.")]
    withheld: Annotated[list[str], Field(description="Fields that you cannot see.")]
    directors: Annotated[
        list[FormDirectorView], Field(description="Directors to choose from in declarations.")
    ]
    findings: Annotated[list[BidFindingView], Field(description="Missing or doubtful answers.")]
    rendering: Annotated[FormRenderingView | None, Field(description="Printed form.")]
    signatures: Annotated[list[FormSignatureView], Field(description="Signatures.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/sbd-forms/{self.id}"

    @classmethod
    def of(
        cls, shown: Shown, signatures: Sequence[Signature], read: Reader, *, sees_price: bool
    ) -> "SbdFormView":
        form = shown.form
        hidden = [
            one.field.id
            for one in shown.filled.values()
            if not sees_price
            and (one.field.price or (one.field.source or "").startswith("workbook"))
        ]
        asks = any(one.field.type == "directors" for one in shown.filled.values())
        more: dict[str, Any] = {
            "status_reason": form.status_text or form.status_code,
            "answers": {
                key: FormAnswerView.of(one, withheld=key in hidden)
                for key, one in shown.filled.items()
            },
            "withheld": hidden,
            "directors": [
                FormDirectorView(director_id=str(one.ref.id), name=one.name)
                for one in (shown.directors or () if asks else ())
            ],
            "findings": [BidFindingView.of(one) for one in shown.findings],
            "signatures": [FormSignatureView.model_validate(one.__dict__) for one in signatures],
            "allowed_moves": FormLifecycle.allowed(form, read.now),
        }
        return cls.model_validate(form.__dict__ | more)


class AddedSbdForms(View):
    """Forms that were added and forms that already existed."""

    created: Annotated[list[SbdFormCard], Field(description="Forms that were added.")]
    existing: Annotated[list[SbdFormCard], Field(description="Forms that already existed.")]

    @property
    def own_path(self) -> str:
        first = (*self.created, *self.existing)[0]
        return f"{PREFIX}/bids/sbd-forms/{first.id}"


@router.post(
    "/bids/workspaces/{workspaceId}/sbd-forms",
    status_code=201,
    responses=problems(
        FormUnknown, EditionNotInForce, RuleViolated, BidSealed, BidAlreadySubmitted, Conflict
    ),
)
async def add_sbd_forms(
    workspace_id: WorkspaceId,
    body: AddSbdForms,
    work: Annotated[Work, writes(Permission.FORM_CREATE)],
) -> AddedSbdForms:
    """Add forms to a bid: those that the tender lists, or those that you name.

    A listed form that is not in the catalogue becomes a buyer's form with a file.
    """
    if not body.from_tender and not body.forms:
        raise RuleViolated("Send `forms` or `fromTender`.", rule="BID-18", field="forms")
    wanted = [
        Wanted(one.form_code, one.edition, one.bidder_key or "", one.title) for one in body.forms
    ]
    made = await forms.create(work, workspace_id, from_tender=body.from_tender, wanted=wanted)
    if not made.created and not made.existing:
        raise RuleViolated(
            "The tender lists no forms. Name them in `forms`.", rule="BID-18", field="fromTender"
        )
    return AddedSbdForms(
        created=[_card(one) for one in made.created],
        existing=[_card(one) for one in made.existing],
    )


def _card(form: SbdForm) -> SbdFormCard:
    return SbdFormCard.model_validate(form.__dict__)


@router.get("/bids/sbd-forms/{formId}")
async def get_sbd_form(
    form_id: FormId, read: Annotated[Reader, reads(Permission.FORM_READ)]
) -> SbdFormView:
    """Retrieve a form with current data of its sources. Identity and tax numbers are masked."""
    return await _view(read, await forms.get_form(read, form_id))


@router.patch(
    "/bids/sbd-forms/{formId}",
    responses=problems(
        *(AnswerInvalid, DeclarationContradiction, FormIncomplete, InvalidTransition, Conflict),
        *(SamePerson, RuleViolated, StaleVersion, BidSealed, BidAlreadySubmitted, FileNotClean),
    ),
)
async def change_sbd_form(
    form_id: FormId,
    body: ChangeSbdForm,
    work: Annotated[Work, writes(Permission.FORM_UPDATE, if_match=True)],
) -> SbdFormView:
    """Answer fields and make one move. Only a person can answer declarations.

    Completing prints the form; the PDF is the file in `rendering`. Someone other than the signer
    must verify it.
    """
    if body.move == "verify":
        await workspaces.demand(work, Permission.FORM_VERIFY)
        form = await forms.verify(work, form_id)
        return await _view(work, await forms.read_form(work, form))
    given = body.answers or {}
    answers = {key: None if one is None else one.plain() for key, one in given.items()}
    shown = await forms.change(
        work, form_id, Change(answers, body.move, body.justification, body.file_id)
    )
    return await _view(work, shown)


@router.post(
    "/bids/sbd-forms/{formId}/sign",
    responses=problems(
        *(SigningAuthorityMissing, RenderingChanged, ESignatureRefused, FileNotClean, Conflict),
        *(InvalidTransition, RuleViolated, StaleVersion, BidSealed, BidAlreadySubmitted),
        DependencyUnavailable,
    ),
)
async def sign_sbd_form(
    form_id: FormId,
    body: SignSbdForm,
    work: Annotated[Work, writes(Permission.FORM_SIGN, if_match=True)],
) -> SbdFormView:
    """Sign a completed and printed form. You need authority to sign for the company.

    A form signed in ink needs a clean scan with the same number of pages.
    """
    signing = Signing(body.method, body.capacity, body.rendering_sha256, body.file_id)
    form = await forms.sign(work, form_id, signing)
    return await _view(work, await forms.read_form(work, form))


async def _view(read: Reader, shown: Shown) -> SbdFormView:
    signatures = await forms.signatures_of(read, shown.form.id)
    sees = workspaces.has_price(read, shown.workspace)
    return SbdFormView.of(shown, signatures, read, sees_price=sees)
