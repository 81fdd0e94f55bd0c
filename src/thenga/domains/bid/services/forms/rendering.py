"""Rendering a form: sealed values are asked for the print alone and kept nowhere (BID-23, 24)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from thenga.domains.bid.services import files, workspaces
from thenga.domains.bid.services.forms.sources import Director, Sources, attestations
from thenga.domains.bid.tables import SbdForm, Workspace
from thenga.domains.bid.values import form_sheets
from thenga.domains.bid.values.findings import Class, Finding
from thenga.domains.bid.values.form_sheets import Plain
from thenga.domains.bid.values.forms import Definition, Filled
from thenga.domains.organization import public as organization
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.files import printing
from thenga.kernel.files.store import StoredFile
from thenga.kernel.outside.isolation import IsolationFailed, run_isolated
from thenga.kernel.ports.binding import Unbound, within

log = structlog.get_logger()

TEMPLATE = Path(__file__).parents[2] / "content" / "form.typ"
RENDERER = "typst 0.15, form.typ 1"
_ID_NUMBER = "idNumber"
_READ = "thenga.kernel.outside.pdf_text:read_pages"
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Rendered:
    """The stored PDF of a form, its pages, and the class of what it prints (BID-56)."""

    definition: Definition
    file: StoredFile
    pages: int
    replaced: tuple[str, ...]
    document_class: str | None


async def reveal(
    work: Work, form: SbdForm, filled: Mapping[str, Filled], sources: Sources
) -> tuple[Plain, list[Finding]]:
    """The sealed values for this version of the form, on behalf of the person who completes it.
    What is refused or silent stays blank, and blank blocks."""
    sealed = [one for one in filled.values() if one.field.sealed and one.answer.is_confirmed]
    codes = {
        one.field.id: one.field.source.partition(".")[2]
        for one in sealed
        if one.field.source and one.field.source.startswith("attestation.")
    }
    told = {one.code: one.number for one in await attestations(work, list(codes.values()))}
    by_field = {field_id: told.get(code) or "" for field_id, code in codes.items()}
    people = {str(one.ref.id): one for one in sources.directors or ()}
    named = [
        people[row["directorId"]]
        for one in sealed
        if one.field.type == "directors"
        for row in one.answer.value or []
        if row["directorId"] in people
    ]
    numbers = await _id_numbers(work, form, named)
    plain = Plain(
        by_field={field_id: value for field_id, value in by_field.items() if value},
        id_numbers=numbers,
        names={str(one.ref.id): one.name for one in named},
    )
    blank = [filled[one].field.label for one, value in by_field.items() if not value]
    blank += [one.name for one in named if str(one.ref.id) not in numbers]
    return plain, [_blank(label) for label in blank]


def _blank(label: str) -> Finding:
    return Finding(
        code="sealed_value_missing",
        severity=Class.BLOCKING,
        subject=f"field:{label[:60]}",
        text=f"{label}: the number is not recorded, or you are not allowed to see it.",
        remedy="Record the number, or ask someone who can see it to complete the form.",
    )


async def _id_numbers(work: Work, form: SbdForm, directors: Sequence[Director]) -> dict[str, str]:
    person = workspaces.person_of(work)
    if not directors or person is None:
        return {}
    try:
        port = work.port(organization.Disclosures)
        asked = port.reveal(
            organization_id=work.organization_id,
            subjects=[one.ref for one in directors],
            fields=[_ID_NUMBER],
            purpose="bid_form",
            reference=organization.DisclosureReference(
                domain="bid", type="sbdForm", id=form.id, version=form.version
            ),
            on_behalf_of=person,
            key=f"bid:sbdForm:{form.id}:{form.version}",
        )
        given = await within(port.port_timeout, port.port_name, asked)
    except (Unbound, Problem) as refused:
        log.info("bid.form.disclosure_refused", form_id=str(form.id), kind=type(refused).__name__)
        return {}
    return {
        str(one.ref.id): str(one.values[_ID_NUMBER]) for one in given if _ID_NUMBER in one.values
    }


async def render(
    work: Work,
    workspace: Workspace,
    definition: Definition,
    filled: Mapping[str, Filled],
    plain: Plain,
) -> Rendered:
    """Print the form and store the bytes. Two envelopes: no price stands in the technical one."""
    sheet = form_sheets.sheet_of(
        definition,
        filled,
        plain,
        leave_out_prices=workspace.envelopes == "two" and not definition.price,
    )
    made = await asyncio.to_thread(printing.typeset, TEMPLATE, sheet, made_at=work.now)
    pages = await count_pages(made.content)
    stored = await files.put(work.host.files, work.organization_id, made.content)
    return Rendered(definition, stored, pages or 1, made.replaced, _class_of(plain))


def _class_of(plain: Plain) -> str | None:
    """Numbers of the company, as the tax PIN, are confidential; those of people are personal."""
    return files.strictest(
        [
            files.PERSONAL if plain.id_numbers else None,
            files.CONFIDENTIAL if plain.by_field else None,
        ]
    )


async def count_pages(content: bytes) -> int | None:
    """How many pages a PDF has; nothing for what is no readable PDF."""
    if not content.startswith(b"%PDF-"):
        return None
    try:
        found = await run_isolated(_READ, content, {"most_pages": 0}, seconds=_SECONDS)
    except IsolationFailed:
        return None
    count: int = found.values["page_count"]
    return count or None


async def scan_pages(read: Reader, content: bytes, media_type: str | None) -> int | None:
    """How many pages a scan shows; a picture is one page."""
    if media_type is not None and media_type.startswith("image/"):
        return 1
    return await count_pages(content)


async def keep(work: Work, workspace: Workspace, rendered: Rendered) -> dict[str, Any]:
    """Make the print a file of the bid; what the form keeps of it."""
    file = await files.keep(
        work,
        workspace,
        rendered.file,
        name=f"{rendered.definition.form_code}.pdf",
        purpose=files.RENDERING,
        price=rendered.definition.price,
        document_class=rendered.document_class,
    )
    return {
        "file_id": str(file.id),
        "sha256": rendered.file.sha256,
        "pages": rendered.pages,
        "renderer": RENDERER,
        "replaced": list(rendered.replaced[:100]),
    }
