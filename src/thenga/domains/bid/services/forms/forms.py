"""Forms of a bid: proposed by reference, confirmed by a person, completed and printed (BID-18..25).

Completing asks ports and prints before the first write; `If-Match` keeps what was asked true.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.lifecycles import FormLifecycle
from thenga.domains.bid.services import files, workspaces
from thenga.domains.bid.services.forms import catalogue, checks, rendering, sources
from thenga.domains.bid.services.forms.adding import event_of
from thenga.domains.bid.services.forms.rendering import Rendered
from thenga.domains.bid.services.forms.signing import void_signatures
from thenga.domains.bid.services.forms.sources import Sources
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import FactUse, FormStatus, SbdForm, Workspace
from thenga.domains.bid.values.findings import Class, Finding
from thenga.domains.bid.values.forms import BUYERS_FORM, Answer, Definition, Field, Filled, fill
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Conflict, Problem, RuleViolated, StaleVersion, extensions

_OPEN = (FormStatus.NOT_STARTED, FormStatus.IN_PROGRESS)
_JUSTIFIED = 20  # characters


class AnswerInvalid(Problem):
    """The field in `pointer` does not accept this answer. Correct it and send it again."""

    code, status, title = "bid-answer-invalid", 422, "This answer is not valid"
    members = extensions(pointer=(str, "JSON pointer to the field in the request."))


class DeclarationContradiction(Problem):
    """The declaration and the company profile disagree. Correct the wrong one first."""

    code, status, title = (
        "bid-declaration-contradiction",
        422,
        "The declaration contradicts the profile",
    )
    members = extensions(findings=(list[str], "Contradictions."))


class FormIncomplete(Problem):
    """Confirm every required answer and fix what blocks the form before you complete it."""

    code, status, title = "bid-form-incomplete", 422, "The form is not complete"
    members = extensions(findings=(list[str], "Findings that block the form."))


@dataclass(frozen=True, slots=True)
class Shown:
    """A form with its answers, sources and findings."""

    form: SbdForm
    workspace: Workspace
    definition: Definition | None
    filled: Mapping[str, Filled]
    findings: Sequence[Finding]
    directors: Sequence[sources.Director] | None = None


async def get_form(read: Reader, form_id: UUID) -> Shown:
    """A form for somebody who needs to know; one of prices for those who may see prices."""
    form, workspace, definition = await _seen(read, form_id)
    if definition is None:
        return Shown(form, workspace, None, {}, [])
    found = await sources.ask(read, workspace, definition, proofs_too=False)
    return _shown(form, workspace, definition, _answers(form), found)


async def _seen(
    read: Reader, form_id: UUID, *needs: Need
) -> tuple[SbdForm, Workspace, Definition | None]:
    form = await read.get(SbdForm, form_id)
    definition = catalogue.definition_of(form.form_code, form.edition)
    priced = definition is not None and definition.price
    wanted = (Need.READ, Need.PRICE) if priced else (Need.READ,)
    workspace = await workspaces.seen_workspace(read, form.workspace_id, *wanted, *needs)
    return form, workspace, definition


async def read_form(read: Reader, form: SbdForm) -> Shown:
    """A form after a write, by what is stored; no port is asked any more."""
    workspace = await read.get(Workspace, form.workspace_id)
    definition = catalogue.definition_of(form.form_code, form.edition)
    if definition is None:
        return Shown(form, workspace, None, {}, [])
    found = await sources.stored(read, workspace)
    return _shown(form, workspace, definition, _answers(form), found)


def _shown(
    form: SbdForm,
    workspace: Workspace,
    definition: Definition,
    answers: Mapping[str, Answer],
    found: Sources,
) -> Shown:
    filled = fill(definition, answers, found.known)
    findings = checks.check(definition, filled, directors=found.flags, claims=found.claims)
    return Shown(form, workspace, definition, filled, findings, found.directors)


def _answers(form: SbdForm) -> dict[str, Answer]:
    return {field_id: Answer.of_row(row) for field_id, row in form.answers.items()}


@dataclass(frozen=True, slots=True)
class Change:
    """What a PATCH asks for."""

    answers: Mapping[str, Any]
    move: str | None = None
    justification: str | None = None
    file_id: UUID | None = None


async def change(work: Work, form_id: UUID, wanted: Change) -> Shown:
    """Answer fields, attach a buyer's form, and make one move."""
    seen, workspace, definition = await _seen(work, form_id, Need.EDIT)
    found, answers = Sources({}), _answers(seen)
    if definition is not None:
        found = await sources.ask(work, workspace, definition, proofs_too=True)
        answers = _proposed(definition, answers, found)
        answers |= _answered(work, definition, wanted.answers, found)
    elif wanted.answers:
        raise AnswerInvalid(pointer="/answers")
    rendered: Rendered | None = None
    if wanted.move == "complete" and definition is not None:
        shown = _shown(seen, workspace, definition, answers, found)
        rendered = await _rendered(work, shown, definition, found)
    workspace = await workspaces.workspace_for(work, workspace.id, Need.EDIT)
    form = await work.lock(SbdForm, form_id)
    if form.version != seen.version:
        raise StaleVersion(currentVersion=form.version)
    changed = await _write(work, form, wanted, answers)
    if definition is not None and wanted.answers:
        await _note_uses(work, form, definition, answers)
    if wanted.move is not None:
        changed |= await _move(work, workspace, form, wanted, rendered)
    if changed:
        await work.touch(form)
        work.publish(event_of(workspace, form))
    if definition is None:
        return Shown(form, workspace, None, {}, [])
    return _shown(form, workspace, definition, answers, found)


async def _write(work: Work, form: SbdForm, wanted: Change, answers: Mapping[str, Answer]) -> bool:
    """Write what was answered; whether anything was."""
    touched = bool(wanted.answers) or wanted.file_id is not None
    if not touched:
        return False
    if form.status not in _OPEN:
        raise Conflict("Reopen the form before you change its answers.")
    if wanted.file_id is not None:
        if form.form_code != BUYERS_FORM:
            raise RuleViolated(
                "Only a buyer's own form can have a file.", rule="BID-18", field="fileId"
            )
        await files.clean_file(work, form.workspace_id, wanted.file_id)
        form.file_id = wanted.file_id
    form.answers = {field_id: answer.to_row() for field_id, answer in answers.items()}
    if form.status is FormStatus.NOT_STARTED:
        FormLifecycle.begin(form, at=work.now)
    return True


def _proposed(
    definition: Definition, answers: Mapping[str, Answer], found: Sources
) -> dict[str, Answer]:
    """Unanswered fields cite what their source says now; a declaration has no source to cite."""
    proposed = dict(answers)
    for field in definition.fields:
        source = found.known.get(field.source) if field.source else None
        held = answers.get(field.id)
        if source is None or source.ref is None or field.declaration:
            continue
        if held is None or not held.is_confirmed:
            proposed[field.id] = Answer(ref=source.ref, provenance=source.provenance)
    return proposed


def _answered(
    work: Work, definition: Definition, given: Mapping[str, Any], found: Sources
) -> dict[str, Answer]:
    """What the caller says, checked field by field; null takes an answer back."""
    now, person = work.now.isoformat(), work.actor.person_id
    answers: dict[str, Answer] = {}
    for field_id, value in given.items():
        field = definition.field(field_id)
        pointer = f"/answers/{field_id}"
        if field is None:
            raise AnswerInvalid("The form has no such field.", pointer=pointer)
        if field.declaration and workspaces.person_of(work) is None:
            raise AnswerInvalid("Only a person can make this declaration.", pointer=pointer)
        by = {"confirmed_by": None if person is None else str(person), "confirmed_at": now}
        answers[field_id] = _answer(field, value, found, by, pointer)
    return answers


def _answer(
    field: Field, value: Any, found: Sources, by: Mapping[str, Any], pointer: str
) -> Answer:
    if value is None:
        return Answer()
    if isinstance(value, dict) and set(value) == {"confirm"}:
        return _confirmed(field, value, found, by, pointer)
    if field.sealed and field.type == "text":
        raise AnswerInvalid(
            "This number comes from the evidence on file. Confirm it instead.", pointer=pointer
        )
    if field.rule == "as_source":
        known = found.known.get(field.source or "")
        if known is None or value != known.value:
            detail = "The name must match the company profile exactly. Confirm it instead."
            raise AnswerInvalid(detail, pointer=pointer)
    try:
        checked = checks.checked_value(field, value, found.goals)
    except checks.AnswerFault as fault:
        raise AnswerInvalid(str(fault), pointer=pointer) from None
    if field.type == "directors":
        known_ids = {str(one.ref.id) for one in found.directors or ()}
        if any(row["directorId"] not in known_ids for row in checked):
            raise AnswerInvalid("Name only directors of the company.", pointer=pointer)
    cited = found.known.get(field.source or "") if field.type == "goals" else None
    ref = None if cited is None else cited.ref
    return Answer(value=checked, ref=ref, provenance="person", **by)


def _confirmed(
    field: Field, value: Mapping[str, Any], found: Sources, by: Mapping[str, Any], pointer: str
) -> Answer:
    """Take what the source says now, in its version."""
    source = found.known.get(field.source) if field.source else None
    if source is None or source.ref is None or field.type == "goals":
        raise AnswerInvalid("There is nothing to confirm. Answer the field.", pointer=pointer)
    if value["confirm"] is not True:
        raise AnswerInvalid("Send true to confirm.", pointer=pointer)
    return Answer(ref=source.ref, provenance=source.provenance, **by)


async def _rendered(
    work: Work, shown: Shown, definition: Definition, found: Sources
) -> Rendered | None:
    """Check and print before anything is written; a contradiction is told first."""
    if shown.form.status not in _OPEN:
        return None  # the move is refused, or has been made
    blocking = [one for one in shown.findings if one.severity is Class.BLOCKING]
    contradictions = [one for one in blocking if one.code == "declaration_contradiction"]
    if contradictions:
        raise DeclarationContradiction(findings=[one.text for one in contradictions])
    if blocking:
        raise FormIncomplete(findings=[one.text for one in blocking])
    plain, blank = await rendering.reveal(work, shown.form, shown.filled, found)
    if blank:
        raise FormIncomplete(findings=[one.text for one in blank])
    return await rendering.render(work, shown.workspace, definition, shown.filled, plain)


async def _move(
    work: Work, workspace: Workspace, form: SbdForm, wanted: Change, rendered: Rendered | None
) -> bool:
    """Make the move; whether it was one."""
    move = getattr(FormLifecycle, wanted.move or "")
    if wanted.move == "not_applicable" and len(wanted.justification or "") < _JUSTIFIED:
        raise RuleViolated("Send a `justification` of at least 20 characters.", rule="BID-18")
    if wanted.move == "complete" and form.status is FormStatus.NOT_STARTED:
        FormLifecycle.begin(form, at=work.now)
    if not move(form, at=work.now):
        return False
    by = workspaces.person_of(work)
    explain(form, at=work.now, by=by, code=move.verb, text=wanted.justification)
    if wanted.move == "complete":
        form.completed_at = work.now
        form.rendering = await _kept(work, workspace, form, rendered)
    elif wanted.move == "not_applicable":
        form.justification = wanted.justification
    elif wanted.move == "reopen":
        form.rendering, form.completed_at = None, None
        await void_signatures(work, form, "reopened")
    return True


async def _kept(
    work: Work, workspace: Workspace, form: SbdForm, rendered: Rendered | None
) -> dict[str, Any]:
    """The print of a form, or the file of a buyer's form, which is its own print."""
    if rendered is None:
        if form.file_id is None:
            raise FormIncomplete(findings=["The buyer's form has no file yet."])
        file = await files.clean_file(work, workspace.id, form.file_id)
        return {"file_id": str(file.id), "sha256": file.sha256, "pages": None, "renderer": None}
    return await rendering.keep(work, workspace, rendered)


async def _note_uses(
    work: Work, form: SbdForm, definition: Definition, answers: Mapping[str, Answer]
) -> None:
    """Which facts of the company the answers cite, so that a change of them is noticed (BID-25)."""
    held = await work.all(select(FactUse).where(FactUse.form_id == form.id))
    for use in held:
        await work.remove(use)
    for field in definition.fields:
        answer = answers.get(field.id)
        ref = None if answer is None or not answer.is_confirmed else answer.ref
        if ref is not None and ref["domain"] == "organization":
            await work.add(
                FactUse(
                    organization_id=form.organization_id,
                    workspace_id=form.workspace_id,
                    form_id=form.id,
                    field_id=field.id,
                    fact_ref=str(ref["id"]),
                    fact_version=ref["version"],
                    material=field.material,
                )
            )
