"""Assembling a pack: exact versions are pinned at one instant, then a job builds it (BID-41)."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import PackLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import approvals, files, forms, proposals, workspaces
from thenga.domains.bid.services.packs.validating import forms_of
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import FormStatus, Pack, PackStatus, Workbook, Workspace
from thenga.domains.bid.values.findings import Finding
from thenga.domains.bid.values.forms import BUYERS_FORM
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import Problem, SamePerson, extensions
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.ids import new_id

TECHNICAL, FINANCIAL, SINGLE = "technical", "financial", "single"
_SIGNED = (FormStatus.SIGNED, FormStatus.VERIFIED, FormStatus.COMPLETED)
_REPLACED = (PackStatus.BUILT, PackStatus.FAILED, PackStatus.UNSEALED)

build_pack = job_stub("bid.build_pack", form=Form.OUTSIDE, key="{pack_id}:{build}", retries=3)


class BuildRunning(Problem):
    """Wait until the build is finished, then try again."""

    code, status, title = "bid-build-running", 409, "A pack is being built"


class OverrideNotAllowed(Problem):
    """These findings do not exist or cannot be overridden. Fix their cause instead."""

    code, status, title = "bid-override-not-allowed", 422, "This finding cannot be overridden"
    members = extensions(findings=(list[str], "Keys of the findings."))


async def assemble(work: Work, workspace_id: UUID, fields: Mapping[str, Any]) -> Pack:
    """Pin what the pack holds now and have it built; a newer pack replaces the former one."""
    papers = await _ask_papers(work, workspace_id)
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT)
    former = await current_pack(work, workspace_id)
    number = 1
    if former is not None:
        number = former.number + 1
        await _supersede(work, former)
    pack = Pack(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace_id,
        number=number,
        file_order=list(fields.get("order") or []),
        extra_files=_by_text(fields.get("extra_files") or {}),
        checklist=dict(fields.get("checklist") or {}),
        overrides={},
        acknowledgements={},
        build={"status": "queued", "done": 0, "total": 0},
        findings=[],
        pins=[],
        as_of=work.now,
        envelopes=[],
        requested_by=work.actor.person_id,
    )
    pack.pins = await _pins(work, workspace, pack, papers)
    pack.build = {"status": "queued", "done": 0, "total": len(pack.pins)}
    await work.add(pack)
    await approvals.void_for(work, workspace_id, "newer_pack", kinds=(approvals.PACK,))
    work.enqueue(build_pack, pack_id=pack.id, build=pack.build_number)
    return pack


async def _supersede(work: Work, former: Pack) -> None:
    held = await work.lock(Pack, former.id, beside=True)
    if held.status is PackStatus.ASSEMBLING:
        raise BuildRunning()
    held.is_current = False
    if held.status in _REPLACED:
        PackLifecycle.supersede(held, at=work.now)
        explain(held, at=work.now, by=workspaces.person_of(work), code="newer_pack")
    await work.save(held)


async def current_pack(read: Reader, workspace_id: UUID) -> Pack | None:
    """The newest pack of a workspace."""
    return await read.find(Pack, workspace_id=workspace_id, is_current=True)


async def change(work: Work, pack_id: UUID, fields: Mapping[str, Any]) -> tuple[Pack, bool]:
    """Acknowledge, tick off and override; whether the pack is built anew.

    An override and the order stand in the manifest, so they change it and void the approval.
    """
    seen = await work.get(Pack, pack_id)
    if fields.get("overrides"):
        await workspaces.demand(work, Permission.PACK_OVERRIDE)
    name = await _name_of(work) if fields.get("overrides") else None
    alone = bool(fields.get("overrides")) and await approvals.is_alone(work)
    workspace = await workspaces.workspace_for(work, seen.workspace_id, Need.EDIT)
    pack = await work.lock(Pack, pack_id)
    for field in ("checklist", "acknowledgements"):
        if field in fields:
            setattr(pack, field, _patched(getattr(pack, field), fields[field] or {}))
    if "extra_files" in fields:
        pack.extra_files = _patched(pack.extra_files, _by_text(fields["extra_files"] or {}))
    rebuilt = "extra_files" in fields
    if fields.get("overrides"):
        await _override(work, workspace, pack, fields["overrides"], name, alone=alone)
        rebuilt = True
    if fields.get("order") is not None and fields["order"] != pack.file_order:
        pack.file_order, rebuilt = list(fields["order"]), True
    if rebuilt:
        await _rebuild(work, workspace, pack)
    await work.touch(pack)
    return pack, rebuilt


async def _rebuild(work: Work, workspace: Workspace, pack: Pack) -> None:
    PackLifecycle.rebuild(pack, at=work.now)
    explain(pack, at=work.now, by=workspaces.person_of(work), code="rebuild")
    pack.build_number += 1
    kept = [pin for pin in pack.pins if pin["kind"] != "file"]
    pack.pins = [*kept, *await _extra(work, workspace, pack)]
    pack.build = {"status": "queued", "done": 0, "total": len(pack.pins)}
    await approvals.void_for(work, workspace.id, "manifest_changed", kinds=(approvals.PACK,))
    work.enqueue(build_pack, pack_id=pack.id, build=pack.build_number)


async def _override(
    work: Work,
    workspace: Workspace,
    pack: Pack,
    wanted: Mapping[str, Any],
    name: str | None,
    *,
    alone: bool,
) -> None:
    """Override by name, with a reason; never by who made what is flawed (BID-43)."""
    found = {one.key: one for one in map(Finding.of_row, pack.findings)}
    refused = [
        key
        for key, entry in wanted.items()
        if entry is not None and (key not in found or not found[key].overridable)
    ]
    if refused:
        raise OverrideNotAllowed(findings=refused)
    for key, entry in wanted.items():
        if entry is not None and not alone and await _is_author(work, workspace, found[key]):
            raise SamePerson(
                "You worked on the subject of this finding, so someone else must override it."
            )
    entries = {
        key: None
        if entry is None
        else {
            "reason": entry["reason"],
            "by": name,
            "user_id": str(work.user_id),
            "at": work.now.isoformat(),
        }
        for key, entry in wanted.items()
    }
    pack.overrides = _patched(pack.overrides, entries)


async def _is_author(work: Work, workspace: Workspace, finding: Finding) -> bool:
    kind, _, subject = finding.subject.partition(":")
    if kind == "section":
        texts = await proposals.pack_texts(work, workspace.id)
        return any(
            str(text.section_id) == subject and same_person(work, *text.authors) for text in texts
        )
    if kind == "form":
        for form in await forms_of(work, workspace.id):
            if subject.startswith(str(form.id)):
                confirmed = {row.get("confirmed_by") for row in form.answers.values()} - {None}
                return same_person(work, *map(UUID, confirmed))
    return False


async def _name_of(read: Reader) -> str | None:
    """The name that a manifest prints; silence leaves the user's id alone."""
    cards = await asking(
        read, identity.People, lambda port: port.describe(user_ids=[read.user_id]), silent=None
    )
    if cards is None:
        return None
    return cards[0].display_name if cards else None


def _patched(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**held, **wanted}
    return {key: value for key, value in merged.items() if value is not None}


def _by_text(entries: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in entries.items()}


async def _ask_papers(read: Reader, workspace_id: UUID) -> list[compliance.ResolvedEvidence]:
    """The papers of the evidence that the matrix cites; silence pins none, and findings say so."""
    states = await proposals.matrix_of(read, workspace_id)
    ids = {proof.evidence_id for one in states for proof in one.evidence}
    return list((await proposals.resolve_evidence(read, ids) or {}).values())


async def _pins(
    work: Work,
    workspace: Workspace,
    pack: Pack,
    papers: Sequence[compliance.ResolvedEvidence],
) -> list[dict[str, Any]]:
    return [
        *await _form_pins(work, workspace),
        *await _text_pins(work, workspace),
        *await _price_pin(work, workspace),
        *[_paper_pin(workspace, one) for one in papers if one.document_id is not None],
        *await _extra(work, workspace, pack),
    ]


def _envelope(workspace: Workspace, wanted: str) -> str:
    return wanted if workspace.envelopes == "two" else SINGLE


async def _form_pins(read: Reader, workspace: Workspace) -> list[dict[str, Any]]:
    pins = []
    for form in await forms_of(read, workspace.id):
        if form.rendering is None or form.status not in _SIGNED:
            continue
        definition = forms.definition_of(form.form_code, form.edition)
        priced = definition is not None and definition.price
        signed = await forms.live_signatures(read, form.id)
        scans = [one.file_id for one in signed if one.file_id is not None]
        file_id = scans[-1] if scans else UUID(form.rendering["file_id"])
        file = await files.clean_file(read, workspace.id, file_id)
        title = form.title if form.form_code == BUYERS_FORM else form.form_code.replace(" ", "")
        pins.append(
            {
                "kind": "form",
                "id": str(form.id),
                "version": form.version,
                "sha256": file.sha256,
                "file_id": str(file.id),
                "media_type": file.media_type,
                "pages": form.rendering.get("pages"),
                "envelope": _envelope(workspace, FINANCIAL if priced else TECHNICAL),
                "title": title,
                "price": priced,
            }
        )
    return pins


async def _text_pins(read: Reader, workspace: Workspace) -> list[dict[str, Any]]:
    drafts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in await proposals.pack_texts(read, workspace.id):
        if one.version_number:
            part = {"id": str(one.section_id), "version": one.version_number, "sha256": one.sha256}
            drafts.setdefault((one.draft_title, one.envelope), []).append(part)
    return [
        {
            "kind": "text",
            "id": title,
            "sections": parts,
            "media_type": "application/pdf",
            "envelope": _envelope(workspace, envelope),
            "title": title,
            "footer": workspace.title,
            "price": envelope == FINANCIAL,
        }
        for (title, envelope), parts in drafts.items()
    ]


async def _price_pin(read: Reader, workspace: Workspace) -> list[dict[str, Any]]:
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is None:
        return []
    return [
        {
            "kind": "price",
            "id": str(workbook.id),
            "version": workbook.version_number,
            "sha256": workbook.content_sha256,
            "media_type": "text/csv",
            "envelope": _envelope(workspace, FINANCIAL),
            "title": "Price",
            "price": True,
        }
    ]


def _paper_pin(workspace: Workspace, one: compliance.ResolvedEvidence) -> dict[str, Any]:
    return {
        "kind": "evidence",
        "id": str(one.ref.evidence_id),
        "document_id": str(one.document_id),
        "version": one.document_version,
        "sha256": one.sha256,
        "media_type": "application/pdf",
        "envelope": _envelope(workspace, TECHNICAL),
        "title": f"Evidence {str(one.ref.evidence_id)[-12:]}",
        "price": False,
    }


async def _extra(read: Reader, workspace: Workspace, pack: Pack) -> list[dict[str, Any]]:
    """Files beside the parts of the bid; one that is not clean is pinned, left out and found."""
    ids = [UUID(one) for one in pack.extra_files]
    found = await files.named_files(read, workspace.id, ids)
    pins = []
    for file in found:
        entry = pack.extra_files[str(file.id)]
        pins.append(
            {
                "kind": "file",
                "id": str(file.id),
                "file_id": str(file.id),
                "version": file.version,
                "sha256": file.sha256,
                "media_type": file.media_type,
                "envelope": _envelope(workspace, entry.get("envelope") or TECHNICAL),
                "title": entry.get("title") or file.name,
                "price": file.price,
                "clean": file.content_status is ContentStatus.CLEAN,
            }
        )
    return pins


def event_facts(workspace: Workspace, pack: Pack) -> dict[str, Any]:
    """What every event of a pack says."""
    return {
        **workspaces.told_of(workspace),
        "pack_id": pack.id,
        "number": pack.number,
        "manifest_sha256": pack.manifest_sha256 or "",
    }


def built_of(workspace: Workspace, pack: Pack) -> public.SubmissionPackBuilt:
    counts: dict[str, int] = {}
    for one in pack.findings:
        counts[one["severity"]] = counts.get(one["severity"], 0) + 1
    return public.SubmissionPackBuilt(**event_facts(workspace, pack), counts=counts)
