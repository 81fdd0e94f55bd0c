"""Forms that are added to a bid: those that its tender lists, or those that are named (BID-18)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.forms import catalogue
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import SbdForm, Workspace
from thenga.domains.bid.values.forms import BUYERS_FORM
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

MOST_FORMS = 40


class FormUnknown(Problem):
    """This form is not in the catalogue. List the forms with `GET /bids/form-catalogue`."""

    code, status, title = "bid-form-unknown", 422, "Unknown form"
    members = extensions(formCode=(str, "Requested form code."))


class EditionNotInForce(Problem):
    """This edition is not in force on the closing date. Choose another one from the catalogue."""

    code, status, title = "bid-edition-not-in-force", 422, "This edition is not in force"
    members = extensions(edition=(str, "Requested edition."))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A form to add."""

    form_code: str
    edition: str | None = None
    bidder_key: str = ""
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """Forms that were added and forms that already existed."""

    created: list[SbdForm]
    existing: list[SbdForm]


async def create(
    work: Work, workspace_id: UUID, *, from_tender: bool, wanted: Sequence[Wanted]
) -> Created:
    """Add the forms that the tender lists, or those that are named."""
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT)
    if from_tender:
        tender = await workspaces.stored_tender(work, workspace)
        listed = [] if tender is None else tender.terms.get("forms", [])
        regime = None if tender is None else tender.terms["buyer"]["regime"]
        found = [opportunity.TenderForm.model_validate(one) for one in listed]
        wanted = _listed(found, regime, _closing_day(work, workspace))
    return await _add(work, workspace, wanted)


async def create_from_tender(
    work: Work, workspace: Workspace, tender: opportunity.Tender
) -> list[SbdForm]:
    """Add the forms of a tender in the transaction that opens its workspace (BID-2)."""
    wanted = _listed(tender.forms, tender.buyer.regime, _closing_day(work, workspace))
    return (await _add(work, workspace, wanted)).created


def _closing_day(read: Reader, workspace: Workspace) -> date:
    return local_day(workspace.closing_at or read.now)


def _listed(forms: Sequence[opportunity.TenderForm], regime: str | None, on: date) -> list[Wanted]:
    wanted = []
    for one in forms:
        found = catalogue.match(one, regime=regime, on=on)
        if found is None:
            wanted.append(Wanted(BUYERS_FORM, one.edition, title=one.title))
        else:
            wanted.append(Wanted(found.form_code, found.edition))
    return wanted


async def _add(work: Work, workspace: Workspace, wanted: Sequence[Wanted]) -> Created:
    held = await work.all(select(SbdForm).where(SbdForm.workspace_id == workspace.id))
    known = {_key(one.form_code, one.edition, one.title, one.bidder_key): one for one in held}
    created, existing = [], []
    for one in wanted:
        form = _form_of(work, workspace, one)
        key = _key(form.form_code, form.edition, form.title, form.bidder_key)
        if key in known:
            existing.append(known[key])
            continue
        if len(known) >= MOST_FORMS:
            raise RuleViolated("A bid can have at most 40 forms.", rule="BID-18", limit=MOST_FORMS)
        known[key] = await work.add(form)
        created.append(form)
        work.publish(event_of(workspace, form))
    return Created(created, existing)


def _key(*parts: str) -> tuple[str, ...]:
    return parts


def _form_of(work: Work, workspace: Workspace, wanted: Wanted) -> SbdForm:
    title, edition = wanted.title or "", wanted.edition or ""
    if wanted.form_code != BUYERS_FORM:
        on = _closing_day(work, workspace)
        found = (
            catalogue.edition_on(wanted.form_code, on)
            if wanted.edition is None
            else catalogue.definition_of(wanted.form_code, wanted.edition)
        )
        if found is None and catalogue.definition_of(wanted.form_code, None) is None:
            raise FormUnknown(formCode=wanted.form_code)
        if found is None or not found.in_force(on):
            raise EditionNotInForce(edition=wanted.edition or "")
        title, edition = found.title, found.edition
    elif not title:
        raise RuleViolated("Send the title of the buyer's form.", rule="BID-18", field="title")
    if wanted.bidder_key and wanted.bidder_key not in workspace.bidders:
        raise RuleViolated("The bid has no bidder with this key.", rule="BID-18", field="bidderKey")
    return SbdForm(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        form_code=wanted.form_code,
        edition=edition,
        title=title,
        bidder_key=wanted.bidder_key,
        answers={},
    )


def event_of(workspace: Workspace, form: SbdForm) -> public.SbdFormChanged:
    """What is told of a form: its status, never its answers."""
    return public.SbdFormChanged(
        **workspaces.told_of(workspace),
        form_id=form.id,
        form_code=form.form_code,
        edition=form.edition or None,
        status=form.status.value,
        form_version=form.version,
    )
