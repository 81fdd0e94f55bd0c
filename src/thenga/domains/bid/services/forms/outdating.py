"""Forms whose material sources moved (BID-25): a signed form never says what is no longer so."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid.lifecycles import FormLifecycle
from thenga.domains.bid.services.forms import catalogue, sources
from thenga.domains.bid.services.forms.adding import event_of
from thenga.domains.bid.tables import FactUse, FormStatus, SbdForm, Workspace
from thenga.domains.bid.values.forms import Answer, AnswerState, fill
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain

_DONE = (FormStatus.COMPLETED, FormStatus.SIGNED, FormStatus.VERIFIED)


async def outdate_for(work: Work, workspace: Workspace, because: str) -> list[SbdForm]:
    """Outdate the forms that cite what the tender or the price no longer say."""
    found = await sources.stored(work, workspace)
    outdated = []
    for form in await _done(work, workspace.id):
        definition = catalogue.definition_of(form.form_code, form.edition)
        if definition is None:
            continue
        answers = {name: Answer.of_row(row) for name, row in form.answers.items()}
        filled = fill(definition, answers, found.known)
        moved = [
            one for one in filled.values() if one.field.material and one.state is AnswerState.STALE
        ]
        if moved and await _outdate(work, workspace, form, because):
            outdated.append(form)
    return outdated


async def price_differs(read: Reader, workspace: Workspace, form: SbdForm) -> bool:
    """Whether a form was completed with another price than the workbook has now (BID-20)."""
    definition = catalogue.definition_of(form.form_code, form.edition)
    if definition is None or form.rendering is None:
        return False
    found = await sources.stored(read, workspace)
    answers = {name: Answer.of_row(row) for name, row in form.answers.items()}
    return any(
        one.state is AnswerState.STALE and (one.field.source or "").startswith("workbook.")
        for one in fill(definition, answers, found.known).values()
    )


async def refresh_uses(work: Work, changed: Mapping[str, int], because: str) -> None:
    """Outdate forms that cite an older version of a fact, where the fact is material to them."""
    uses = await work.all(select(FactUse).where(among(FactUse.fact_ref, list(changed))))
    forms = {
        use.form_id for use in uses if use.material and use.fact_version < changed[use.fact_ref]
    }
    for form_id in sorted(forms):
        await _outdate_one(work, form_id, because)


async def outdate_declarations(work: Work, because: str) -> None:
    """Outdate forms that declare about directors: who they are has changed."""
    about = [
        one for one in catalogue.definitions() if any(f.type == "directors" for f in one.fields)
    ]
    statement = select(SbdForm.id).where(
        SbdForm.organization_id == work.organization_id,
        among(SbdForm.form_code, [one.form_code for one in about]),
        among(SbdForm.status, list(_DONE)),
    )
    for form_id in await work.values(statement):
        await _outdate_one(work, form_id, because)


async def _outdate_one(work: Work, form_id: UUID, because: str) -> None:
    form = await work.find(SbdForm, id=form_id)
    if form is None or form.status not in _DONE:
        return
    workspace = await work.get(Workspace, form.workspace_id)
    await _outdate(work, workspace, form, because)


async def _outdate(work: Work, workspace: Workspace, form: SbdForm, because: str) -> bool:
    held = await work.lock(SbdForm, form.id, beside=True)
    if not FormLifecycle.outdate(held, at=work.now):
        return False
    explain(held, at=work.now, by=None, code=because)
    await work.save(held)
    work.publish(event_of(workspace, held))
    return True


async def _done(work: Work, workspace_id: UUID) -> list[SbdForm]:
    statement = select(SbdForm).where(
        SbdForm.workspace_id == workspace_id, among(SbdForm.status, list(_DONE))
    )
    return await work.all(statement.order_by(SbdForm.id))
