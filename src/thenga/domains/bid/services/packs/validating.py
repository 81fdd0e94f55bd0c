"""The facts that a pack is validated by, read when it is built, shown and sealed (BID-42)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import settings
from thenga.domains.bid.services import approvals, forms, pricing, proposals, workspaces
from thenga.domains.bid.services.packs import rules
from thenga.domains.bid.services.packs.rules import Found
from thenga.domains.bid.tables import (
    FormStatus,
    Pack,
    SbdForm,
    SectionStatus,
    TenderRef,
    Workbook,
    Workspace,
)
from thenga.domains.bid.values.findings import Class, Finding
from thenga.domains.bid.values.forms import BUYERS_FORM
from thenga.domains.compliance import public as compliance
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.calendar import local_day

_SIGNED = (FormStatus.SIGNED, FormStatus.VERIFIED)
_APPROVED = (SectionStatus.APPROVED, SectionStatus.LOCKED)
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """What only other domains know, asked when the pack is built; kept with the build."""

    ready: bool | None
    declarations: Sequence[Mapping[str, Any]] = ()

    def to_row(self) -> dict[str, Any]:
        return {"ready": self.ready, "declarations": [dict(one) for one in self.declarations]}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Asked":
        return cls(row.get("ready"), row.get("declarations", ()))


async def ask(read: Reader, workspace: Workspace) -> Asked:
    """Readiness on the closing day, and what the profile says against declarations."""
    declarations: list[Mapping[str, Any]] = []
    for form in await forms_of(read, workspace.id):
        definition = forms.definition_of(form.form_code, form.edition)
        declares = definition is not None and any(f.type == "directors" for f in definition.fields)
        if form.status is FormStatus.NOT_APPLICABLE or not declares:
            continue
        shown = await forms.get_form(read, form.id)
        declarations += [
            one.to_row()
            for one in shown.findings
            if one.code in ("declaration_contradiction", "flag_unknown")
        ]
    return Asked(await _ready(read, workspace), declarations)


async def _ready(read: Reader, workspace: Workspace) -> bool | None:
    on = None if workspace.closing_at is None else local_day(workspace.closing_at)
    told = await asking(
        read,
        compliance.Readiness,
        lambda port: port.on_date(organization_id=read.organization_id, on=on),
        silent=None,
    )
    if told is None:
        return None
    return None if told.score is None else not told.unknowns


async def validate(
    read: Reader, workspace: Workspace, pack: Pack, *, waived: bool
) -> list[Finding]:
    """Every check of a pack, by what is stored now. `waived`: nobody else could approve."""
    tender = await workspaces.stored_tender(read, workspace)
    asked = Asked.of_row(pack.build.get("asked", {}))
    found = [
        *_gates(read, workspace, tender),
        *await _price(read, workspace, waived=waived),
        *await _forms(read, workspace, waived=waived),
        *await _texts(read, workspace, waived=waived),
        *await _matrix(read, workspace, tender),
        *_briefings(tender),
        *await _size(read, pack),
        *_files(pack),
        *_asked(asked),
        *await _talk(read, workspace),
    ]
    submission = None if tender is None else tender.terms.get("submission") or {}
    copies = (submission or {}).get("copies")
    if copies and not pack.checklist.get("copies", {}).get("done"):
        found.append(Found("copies_missing", "pack", f"The tender asks for {copies} copies."))
    found.append(Found("not_merged", "pack", "The PDFs are not merged into one file."))
    return rules.lay_out(found)


def _gates(read: Reader, workspace: Workspace, tender: TenderRef | None) -> Iterator[Found]:
    if workspace.gate_at is not None and read.now >= workspace.gate_at:
        yield Found("closing_passed", "tender", "The tender has closed.")
    if tender is not None and tender.tender_status != "open":
        yield Found("tender_not_open", "tender", f"The tender is {tender.tender_status}.")
    if workspace.reconfirm_amendment is not None:
        number = workspace.reconfirm_amendment
        yield Found(
            "amendment_unconfirmed", "tender", f"The bid is not reconfirmed for amendment {number}."
        )


async def _price(read: Reader, workspace: Workspace, *, waived: bool) -> list[Found]:
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is None:
        return [Found("price_not_approved", "price", "There is no price yet.")]
    found = []
    given = await approvals.live_approval(
        read, workspace.id, approvals.PRICE, workbook.content_sha256
    )
    if given is None and not waived:
        found.append(Found("price_not_approved", "price", "The price is not approved."))
    picture = (await pricing.picture_of(read, workspace, workbook)).picture
    recomputed = picture.priced.totals.total.minor
    if recomputed != workbook.total_minor:
        found.append(Found("arithmetic_error", "price", "The total does not match the items."))
    for one in picture.findings:
        if one.severity is Class.BLOCKING:
            found.append(Found("arithmetic_error", one.subject, one.text))
        elif one.severity is Class.HIGH_RISK:
            found.append(Found(one.code, one.subject, one.text))
    return found


async def _forms(read: Reader, workspace: Workspace, *, waived: bool) -> list[Found]:
    found = []
    unknown_ink = await forms.e_signature(read, workspace) == "unknown"
    for form in await forms_of(read, workspace.id):
        subject, name = f"form:{form.id}", _name(form)
        definition = forms.definition_of(form.form_code, form.edition)
        if form.status in (FormStatus.NOT_STARTED, FormStatus.IN_PROGRESS):
            found.append(Found("form_missing", subject, f"{name} is not completed."))
        elif form.status is FormStatus.COMPLETED and (definition is None or definition.signature):
            found.append(Found("form_unsigned", subject, f"{name} is not signed."))
        elif form.status is FormStatus.OUTDATED:
            found.append(Found("form_outdated", subject, f"{name} is out of date."))
        if await forms.price_differs(read, workspace, form):
            found.append(Found("price_mismatch", subject, f"{name} states a different price."))
        if definition is not None and definition.superseded_by is not None:
            text = f"{name} is superseded by edition {definition.superseded_by}."
            found.append(Found("edition_superseded", subject, text))
        if form.status in _SIGNED:
            found += await _signature(read, form, waived=waived, unknown_ink=unknown_ink)
            found += _goals(form)
    return found


async def _signature(
    read: Reader, form: SbdForm, *, waived: bool, unknown_ink: bool
) -> list[Found]:
    subject, name, found = f"form:{form.id}", _name(form), []
    for one in await forms.live_signatures(read, form.id):
        if one.method == "wet_ink" and one.checked_by is None and not waived:
            found.append(Found("ink_unverified", subject, f"The scan of {name} is not verified."))
        if one.method == "electronic" and unknown_ink:
            text = f"{name} is signed electronically; the tender does not say if that is allowed."
            found.append(Found("esignature_unknown", subject, text))
    return found


def _goals(form: SbdForm) -> list[Found]:
    claims = form.answers.get("4.table", {}).get("value") or {}
    return [
        Found(
            "goal_without_proof", f"form:{form.id}:{key}", f"Goal {key} is claimed without proof."
        )
        for key, claim in claims.items()
        if (claim.get("claim8020") or claim.get("claim9010")) and not claim.get("proof")
    ]


async def _texts(read: Reader, workspace: Workspace, *, waived: bool) -> list[Found]:
    return [
        Found("section_unapproved", f"section:{one.section_id}", f"{one.title} is not approved.")
        for one in await proposals.pack_texts(read, workspace.id)
        if one.status not in _APPROVED
        and not (waived and one.status is SectionStatus.READY_FOR_REVIEW)
    ]


async def _matrix(read: Reader, workspace: Workspace, tender: TenderRef | None) -> list[Found]:
    found = []
    offer_ends = None
    if workspace.closing_at is not None and tender is not None and tender.validity_days:
        offer_ends = local_day(workspace.closing_at) + timedelta(days=tender.validity_days)
    for one in await proposals.matrix_of(read, workspace.id):
        subject, label = f"requirement:{one.row.requirement_id}", one.row.requirement_label[:160]
        mandatory = one.row.requirement_class == "mandatory"
        if mandatory and one.state in ("gap", "stale", "partly"):
            found.append(
                Found("mandatory_gap", subject, f"Mandatory requirement not met: {label}.")
            )
        for proof in one.evidence:
            at = f"evidence:{proof.evidence_id}"
            if proof.at_closing != "valid" and mandatory:
                text = f"Evidence for {label} is {proof.at_closing} on the closing date."
                found.append(Found("evidence_invalid_at_closing", at, text))
            elif offer_ends and proof.valid_until and proof.valid_until < offer_ends:
                text = f"Evidence for {label} expires on {proof.valid_until}."
                found.append(Found("evidence_ends_before_validity", at, text))
    return list({(one.code, one.subject): one for one in found}.values())


def _briefings(tender: TenderRef | None) -> Iterator[Found]:
    for one in [] if tender is None else tender.terms.get("briefings", []):
        if one["compulsory"] and one["attendance"] not in ("attended", "confirmed"):
            text = "No attendance is recorded for a compulsory briefing."
            yield Found("compulsory_briefing_missed", f"briefing:{one['id']}", text)


async def _size(read: Reader, pack: Pack) -> list[Found]:
    limits = await configuration.value(read, settings.PACK_LIMITS)
    files = len(pack.pins)
    pages = sum(one.get("pages") or 0 for one in pack.pins)
    size = sum(one.get("bytes") or 0 for one in pack.envelopes)
    over = [
        f"{value} {name} (at most {most})"
        for value, most, name in (
            (files, limits.files, "files"),
            (pages, limits.pages, "pages"),
            (size // _MEBIBYTE, limits.megabytes, "MB"),
        )
        if value > most
    ]
    if not over:
        return []
    return [Found("size_or_page_limit", "pack", f"The pack has {', '.join(over)}.")]


def is_included(pin: Mapping[str, Any]) -> bool:
    """Whether the archive holds it. The pin decides, so every build of the pack gives the same."""
    return bool(pin.get("clean", True))


def _files(pack: Pack) -> Iterator[Found]:
    for pin in pack.pins:
        if pin.get("price") and pin["envelope"] == "technical":
            text = f"{pin['title']} contains prices but is in the technical envelope."
            yield Found("price_in_technical_envelope", f"file:{pin['id']}", text)
        if not is_included(pin):
            text = f"{pin['title']} is not in the pack because it was not found clean."
            yield Found("file_not_clean", f"file:{pin['id']}", text)
        if pin.get("changed"):
            text = f"{pin['title']} has changed since the pack was assembled."
            yield Found("file_changed", f"file:{pin['id']}", text)


def _asked(asked: Asked) -> Iterator[Found]:
    if asked.ready is None:
        yield Found("readiness_unknown", "company", "The readiness of the company is unknown.")
    elif not asked.ready:
        yield Found(
            "readiness_unknown",
            "company",
            "It is unknown whether the company meets all requirements.",
        )
    for row in asked.declarations:
        one = Finding.of_row(row)
        yield Found(one.code, one.subject, one.text)


async def _talk(read: Reader, workspace: Workspace) -> list[Found]:
    count = await workspaces.open_blocking_comments(read, workspace.id)
    if not count:
        return []
    return [Found("blocking_comment_open", "workspace", f"Open blocking comments: {count}.")]


async def forms_of(read: Reader, workspace_id: UUID) -> list[SbdForm]:
    """The forms of a workspace in the order of their codes."""
    statement = select(SbdForm).where(SbdForm.workspace_id == workspace_id)
    return await read.all(statement.order_by(SbdForm.form_code, SbdForm.title, SbdForm.id))


def _name(form: SbdForm) -> str:
    return form.title[:80] if form.form_code == BUYERS_FORM else form.form_code
