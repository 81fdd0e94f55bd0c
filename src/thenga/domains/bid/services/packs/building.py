"""Building a pack: fetch, check each hash, print, archive, record (BID-44).

Nothing here reads a clock: the same pins and the same `as_of` give the same bytes anywhere.
"""

import csv
import io
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, BinaryIO
from uuid import UUID
from zoneinfo import ZoneInfo

from thenga.domains.bid.lifecycles import PackLifecycle
from thenga.domains.bid.services import approvals, files, forms, pricing
from thenga.domains.bid.services.packs import archives, texts, validating
from thenga.domains.bid.services.packs.archives import Entry, Frame
from thenga.domains.bid.services.packs.assembling import FINANCIAL, SINGLE, TECHNICAL, built_of
from thenga.domains.bid.services.packs.validating import Asked, is_included
from thenga.domains.bid.tables import (
    BidFile,
    Pack,
    PackStatus,
    Section,
    SectionVersion,
    Workbook,
    Workspace,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.files import contents
from thenga.kernel.files.store import CHUNK_BYTES, FileStore, StoredFile
from thenga.kernel.http.exports import text_of

_ZONE = ZoneInfo("Africa/Johannesburg")
_MOST_BYTES = 2 * 1024**3
_KINDS = {"form": 0, "text": 1, "price": 2, "evidence": 3, "file": 4}


class FileChanged(Exception):
    """A pinned file is not what was pinned; the pack says which one."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to build: the pins, and everything that this domain itself keeps of them."""

    workspace: Workspace
    pack: Pack
    asked: Asked
    stored: Mapping[str, StoredFile]
    classes: Mapping[str, str | None]
    ends: Mapping[str, datetime | None]
    sections: Mapping[str, tuple[str, str]]
    price_csv: bytes | None
    waived: bool


@dataclass(frozen=True, slots=True)
class Paper:
    """A document of the company: its bytes, its class, and when its file is destroyed."""

    content: bytes
    document_class: str
    destroy_at: datetime | None


@dataclass(slots=True)
class Built:
    """The archives and what the pack records of them."""

    envelopes: list[dict[str, Any]] = field(default_factory=list)
    archives: dict[str, StoredFile] = field(default_factory=dict)
    classes: dict[str, str | None] = field(default_factory=dict)
    ends: dict[str, datetime | None] = field(default_factory=dict)
    manifests: dict[str, bytes] = field(default_factory=dict)
    pins: list[dict[str, Any]] = field(default_factory=list)


async def order_of(read: Reader, pack_id: UUID, build: int) -> Order | None:
    """What is to be built; nothing where another build has taken its place."""
    pack = await read.find(Pack, id=pack_id)
    if pack is None or pack.status is not PackStatus.ASSEMBLING or pack.build_number != build:
        return None
    workspace = await read.get(Workspace, pack.workspace_id)
    stored: dict[str, StoredFile] = {}
    classes: dict[str, str | None] = {}
    ends: dict[str, datetime | None] = {}
    sections: dict[str, tuple[str, str]] = {}
    price_csv: bytes | None = None
    for pin in pack.pins:
        if "file_id" in pin and is_included(pin):
            file = await read.get(BidFile, UUID(pin["file_id"]))
            stored[pin["file_id"]] = contents.clean(file)
            classes[pin["file_id"]] = file.document_class
            ends[pin["file_id"]] = file.next_check_at
        for part in pin.get("sections", ()):
            sections[part["id"]] = await _section(read, part)
        if pin["kind"] == "price":
            price_csv = await _price(read, workspace, pin)
    return Order(
        workspace,
        pack,
        await validating.ask(read, workspace),
        stored,
        classes,
        ends,
        sections,
        price_csv,
        await _waived(read, pack),
    )


async def _waived(read: Reader, pack: Pack) -> bool:
    """Whether nobody but who assembles the pack could approve (BID-40)."""
    holders = await approvals.holding(read)
    return holders is not None and not set(holders) - {pack.requested_by}


async def _section(read: Reader, part: Mapping[str, Any]) -> tuple[str, str]:
    section = await read.get(Section, UUID(part["id"]))
    version = await read.find(SectionVersion, section_id=section.id, number=part["version"])
    if version is None or version.sha256 != part["sha256"]:
        raise FileChanged(section.title)
    return section.title, version.content


async def _price(read: Reader, workspace: Workspace, pin: Mapping[str, Any]) -> bytes:
    workbook = await read.get(Workbook, UUID(pin["id"]))
    shown = await pricing.picture_of(read, workspace, workbook, version_number=pin["version"])
    if shown.version.content_sha256 != pin["sha256"]:
        raise FileChanged("Price")
    return price_file(shown.picture)


def price_file(picture: pricing.Picture) -> bytes:
    """The price as CSV; no text in it is a live formula."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for row in (pricing.CSV_HEADER, *pricing.csv_rows(picture)):
        writer.writerow([text_of(cell, _ZONE) for cell in row])
    return out.getvalue().encode("utf-8-sig")


async def build(order: Order, store: FileStore, papers: Mapping[str, Paper]) -> Built:
    """Make the archives of every envelope and store them. `papers` are documents of evidence.

    An archive has the strictest class of what it holds, and the earliest end (BID-56).
    """
    built = Built()
    names = (TECHNICAL, FINANCIAL) if order.workspace.envelopes == "two" else (SINGLE,)
    for name in names:
        of_envelope = [one for one in order.pack.pins if one["envelope"] == name]
        pins = _in_order(order.pack, [one for one in of_envelope if is_included(one)])
        held: dict[str, bytes] = {}
        for number, pin in enumerate(pins, 1):
            content = await _content(order, store, pin, papers)
            path = archives.path_of(number, len(pins), pin["title"], pin["media_type"])
            held[path] = content
            built.pins.append({**pin, "path": path, "changed": _is_changed(pin, content)})
        built.pins += [one for one in of_envelope if not is_included(one)]
        built.classes[name] = files.strictest(_class_of(order, pin, papers) for pin in pins)
        ends = [end for pin in pins if (end := _end_of(order, pin, papers)) is not None]
        built.ends[name] = min(ends, default=None)
        await _archive(order, store, name, held, built)
    return built


def _in_order(pack: Pack, pins: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The order that the bid manager gave; the rest by kind and title."""
    wanted = {key: place for place, key in enumerate(pack.file_order)}
    last = len(wanted)
    return sorted(
        pins,
        key=lambda one: (wanted.get(one["id"], last), _KINDS[one["kind"]], one["title"], one["id"]),
    )


def _class_of(order: Order, pin: Mapping[str, Any], papers: Mapping[str, Paper]) -> str | None:
    if pin["kind"] == "evidence":
        return papers[pin["id"]].document_class
    return order.classes.get(pin.get("file_id", ""))


def _end_of(order: Order, pin: Mapping[str, Any], papers: Mapping[str, Paper]) -> datetime | None:
    if pin["kind"] == "evidence":
        return papers[pin["id"]].destroy_at
    return order.ends.get(pin.get("file_id", ""))


async def _content(
    order: Order, store: FileStore, pin: Mapping[str, Any], papers: Mapping[str, Paper]
) -> bytes:
    if pin["kind"] == "evidence":
        return papers[pin["id"]].content
    if pin["kind"] == "price":
        return order.price_csv or b""
    if pin["kind"] == "text":
        sections = [order.sections[part["id"]] for part in pin["sections"]]
        return await texts.print_draft(
            pin["title"], sections, bidder=pin["footer"], made_at=order.pack.as_of
        )
    file = order.stored[pin["file_id"]]
    return b"".join([chunk async for chunk in store.read(file.key)])


def _is_changed(pin: Mapping[str, Any], content: bytes) -> bool:
    """Whether fetched bytes are others than those pinned; what is printed here has no hash yet."""
    if pin["kind"] in ("text", "price") or pin.get("sha256") is None:
        return False
    return bool(sha256(content).hexdigest() != pin["sha256"])


async def _archive(
    order: Order, store: FileStore, name: str, held: Mapping[str, bytes], built: Built
) -> None:
    entries = [
        Entry(path, sha256(content).hexdigest(), len(content)) for path, content in held.items()
    ]
    told = archives.manifest(name, entries, frame_of(order))
    with tempfile.TemporaryFile() as out:
        archives.write_archive(out, held, told)
        size = out.tell()
        out.seek(0)
        area = f"bid/packs/{order.pack.organization_id}"
        stored = await store.put(area, _chunks(out), most_bytes=_MOST_BYTES)
    built.archives[name] = stored
    built.manifests[name] = told
    built.envelopes.append(
        {
            "name": name,
            "manifest_sha256": sha256(told).hexdigest(),
            "zip_sha256": stored.sha256,
            "bytes": size,
            "files": [
                {"path": one.path, "sha256": one.sha256, "bytes": one.size} for one in entries
            ],
            "pages": sum(
                pin.get("pages") or 0 for pin in order.pack.pins if pin["envelope"] == name
            ),
        }
    )


async def _chunks(out: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := out.read(CHUNK_BYTES):
        yield chunk


def frame_of(order: Order) -> Frame:
    """What the manifest says of amendment, overrides, renderers and waivers."""
    pack = order.pack
    renders = [texts.RENDERER] if any(pin["kind"] == "text" for pin in pack.pins) else []
    if any(pin["kind"] == "form" for pin in pack.pins):
        renders.append(forms.RENDERER)
    overrides = [
        {
            "at": one["at"],
            "by": one["by"] or one["user_id"],
            "finding": key,
            "reason": one["reason"],
        }
        for key, one in sorted(pack.overrides.items())
    ]
    return Frame(
        pack_id=str(pack.id),
        amendment_number=order.workspace.amendment_number,
        as_of=pack.as_of,
        overrides=overrides,
        renderers=renders,
        waivers=[approvals.SINGLE_MEMBER] if order.waived else [],
    )


async def record(work: Work, order: Order, built: Built) -> None:
    """Record a build once; one that was overtaken is dropped."""
    pack = await work.lock(Pack, order.pack.id)
    if pack.status is not PackStatus.ASSEMBLING or pack.build_number != order.pack.build_number:
        return
    workspace = await work.lock(Workspace, pack.workspace_id, beside=True)
    for envelope in built.envelopes:
        name = envelope["name"]
        file = await files.keep(
            work,
            workspace,
            built.archives[name],
            name=f"pack-{pack.number}-{name}.zip",
            purpose=files.ARCHIVE,
            price=name != TECHNICAL,
            document_class=built.classes[name],
            destroy_at=built.ends[name],
        )
        envelope["zip_file_id"] = str(file.id)
    pack.envelopes = built.envelopes
    pack.pins = built.pins
    pack.manifest_sha256 = archives.pack_hash(built.manifests)
    total = len(built.pins)
    pack.build = {
        "status": "succeeded",
        "done": total,
        "total": total,
        "asked": order.asked.to_row(),
        "waived": order.waived,
    }
    PackLifecycle.build(pack, at=work.now)
    explain(pack, at=work.now, by=None, code="built")
    found = await validating.validate(work, workspace, pack, waived=order.waived)
    pack.findings = [one.to_row() for one in found]
    await work.save(pack)
    work.publish(built_of(workspace, pack))


async def fail(work: Work, pack_id: UUID, build: int, step: str) -> None:
    """The build cannot be done; the step is named, and a new pack can be assembled."""
    pack = await work.lock(Pack, pack_id)
    if pack.status is not PackStatus.ASSEMBLING or pack.build_number != build:
        return
    PackLifecycle.fail(pack, at=work.now)
    explain(pack, at=work.now, by=None, code="build_failed", text=step)
    pack.build = {**pack.build, "status": "failed", "note": step}
    await work.save(pack)
