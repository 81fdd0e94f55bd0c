"""Documents and files of each class in one company, and everyone who may ask for them.

The operations are found in the API document: all of the domains that keep a class with a document
or file, and of the others those that send a file or name a document, a file or evidence.
"""

import asyncio
import io
import re
import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from pypdf import PdfReader
from pypdf.errors import PyPdfError

from tests.documented import lean_document
from tests.factories import bid, bid_offer, compliance_filed, identity
from tests.suites import actors, calls
from tests.suites.actors import Tenant
from tests.suites.calls import keys
from tests.suites.matrix import content_of
from tests.suites.straight import Answer, Straight
from thenga.domains.bid.services import files, forms
from thenga.domains.bid.services.forms import rendering
from thenga.domains.bid.tables import SbdForm, Workspace
from thenga.domains.bid.values import forms as form_values
from thenga.domains.bid.values.form_sheets import Plain
from thenga.kernel.db.rows import rows
from thenga.kernel.declare.permission import Granted
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.process.host import Host

Json = dict[str, Any]
PERSONAL, CONFIDENTIAL, TEAM, STRANGERS = "personal", "confidential", "team", "strangers"
_NAMES = re.compile(r"(^d|D)ocumentIds?$|(^f|F)ileIds?$|(^e|E)videnceIds?$|^fileName$")
_KINDS = {
    "document": "compliance.document",
    "evidence": "compliance.evidence",
    "verification": "compliance.verification",
    "suggestion": "compliance.ai_suggestion",
    "file": "bid.file",
    "form": "bid.sbd_form",
}
_NOT_LET_IN = (401, 403, 404)


def in_scope(operations: Sequence[Operation]) -> list[Operation]:
    """The operations that show or change a document or a file."""
    classed = {row.__table__.schema for row in rows() if "document_class" in row.__table__.c}
    return [each for each in operations if each.domain.name in classed or _names_files(each)]


def _names_files(operation: Operation) -> bool:
    made = lean_document()
    described = made["paths"][operation.path][operation.method.lower()]
    parts = [described.get("parameters", []), described.get("requestBody", {})]
    answers = [
        _resolved(made, answer)
        for status, answer in described["responses"].items()
        if str(status).startswith("2")
    ]
    kinds = {kind for answer in answers for kind in answer.get("content", {})}
    named = set(_properties(made, [*parts, *answers], set()))
    return kinds - {"application/json"} != set() or any(map(_NAMES.search, named))


def _properties(made: Json, node: Any, known: set[str]) -> Iterator[str]:
    """Every field and parameter below a part of the document, through its references."""
    if isinstance(node, list):
        for part in node:
            yield from _properties(made, part, known)
    elif isinstance(node, dict):
        if "$ref" in node:
            if node["$ref"] not in known:
                known.add(node["$ref"])
                yield from _properties(made, _resolved(made, node), known)
            return
        yield from node.get("properties", {})
        if "in" in node and "name" in node:
            yield node["name"]
        for part in node.values():
            yield from _properties(made, part, known)


def _resolved(made: Json, node: Json) -> Json:
    for step in node.get("$ref", "#/").removeprefix("#/").split("/"):
        if step:
            node = made[step] if node is made or "$ref" in node else node[step]
    return node


@dataclass(frozen=True)
class Subject:
    """Documents and files of one class; every text and byte of them holds the mark."""

    name: str
    mark: str
    ids: Mapping[str, UUID]
    is_read_only: bool = False  # not made anew for operations that change it


@dataclass(frozen=True)
class Caller:
    """Who asks, and the classes that must not come back."""

    name: str
    headers: Mapping[str, str]
    hidden: frozenset[str]
    scope: str | None = None  # of a key with the permission of each operation alone


@dataclass
class Tally:
    """What a sweep came to."""

    operations: int = 0
    callers: int = 0
    answers: int = 0
    canaries: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)  # operations that nobody was let into
    broken: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)  # operations that showed a mark to the owner

    def __str__(self) -> str:
        return (
            f"classes: operations={self.operations} callers={self.callers} "
            f"answers={self.answers} canaries={len(self.canaries)}"
        )


@dataclass
class Sweep:
    """The company, its documents and everyone who asks."""

    client: Straight
    host: Host
    admin: asyncpg.Connection
    tenant: Tenant
    subjects: list[Subject]
    callers: list[Caller]
    granted: Mapping[str, Granted]
    keys: dict[str, str] = field(default_factory=dict)

    async def walk(self, operations: Iterable[Operation]) -> Tally:
        """Ask every operation as every caller, and the owner last."""
        tally = Tally(callers=len(self.callers) + 1)
        for operation in operations:
            tally.operations += 1
            try:
                await self._ask(operation, tally)
            except Exception as error:  # noqa: BLE001  # whatever it is, it was not exercised
                tally.idle.append(f"{operation.name}: {error!r}")
        return tally

    async def _ask(self, operation: Operation, tally: Tally) -> None:
        make = calls.MAKERS[operation.name]
        sent = await make(self.host, self.tenant.owner, self.tenant.organization_id)
        known = await self._kinds(sent.ids)
        for subject in await self._subjects(operation, known):
            ids = {
                name: subject.ids.get(known.get(name, ""), id_) for name, id_ in sent.ids.items()
            }
            if ids == sent.ids and subject.name != self.subjects[0].name:
                continue  # names nothing of this class: the first walk has asked it
            for caller in self.callers:
                answer = await self._request(operation, caller, sent, ids)
                self._judge(operation, caller, subject, answer, tally)
            await self._control(operation, subject, sent, ids, tally)

    async def _subjects(self, operation: Operation, known: Mapping[str, str]) -> list[Subject]:
        """What to ask for; an operation that changes it gets documents and files of its own."""
        if operation.method == "GET":
            return self.subjects
        return [
            await make_subject(self.host, self.tenant, subject.name, mark=subject.mark)
            if set(known.values()) & subject.ids.keys()
            else subject
            for subject in self.subjects
            if not subject.is_read_only
        ]

    async def _control(
        self,
        operation: Operation,
        subject: Subject,
        sent: calls.Sent,
        ids: Mapping[str, UUID],
        tally: Tally,
    ) -> None:
        """The owner is let in, also to what is hidden from others; else nothing was tried."""
        owner = Caller("owner", self.tenant.owner.headers, frozenset())
        changed = ids != sent.ids
        if not changed:  # the callers before may have used it up
            make = calls.MAKERS[operation.name]
            sent = await make(self.host, self.tenant.owner, self.tenant.organization_id)
            ids = sent.ids
        answer = await self._request(operation, owner, sent, ids)
        tally.answers += 1
        if any(known.mark.encode() in _plain(answer) for known in self.subjects):
            tally.shown.add(operation.name)
        refused = (404,) if changed else _NOT_LET_IN
        if answer.status_code in refused or answer.status_code >= 500:
            about = subject.name if changed else "its own"
            tally.idle.append(f"{operation.name} {about}: {answer.status_code} {answer.text[:200]}")

    def _judge(
        self,
        operation: Operation,
        caller: Caller,
        subject: Subject,
        answer: Answer,
        tally: Tally,
    ) -> None:
        tally.answers += 1
        plain = _plain(answer)
        marks = [(kept.name, kept.mark) for kept in self.subjects]
        marks.append((STRANGERS, self.tenant.marker))
        found = [name for name, mark in marks if name in caller.hidden and mark.encode() in plain]
        is_file = answer.is_success and not _is_json(answer) and operation.permission is not None
        if is_file and STRANGERS in caller.hidden:
            found.append("a file")
        if found:
            about = f"{operation.name} {caller.name} {subject.name}"
            tally.canaries.append(f"{about}: {answer.status_code} {found}")
        if answer.status_code == 500:
            tally.broken.append(f"{operation.name} {caller.name}: {answer.text[:200]}")

    async def _request(
        self,
        operation: Operation,
        caller: Caller,
        sent: calls.Sent,
        ids: Mapping[str, UUID],
    ) -> Answer:
        besides = dict(sent.headers)
        if caller.name != "owner" or not (sent.by_staff or sent.stand_in):
            besides.pop("Authorization", None)
        credential = dict(caller.headers)
        if caller.scope is not None:
            credential["Authorization"] = f"Bearer {await self._key(operation)}"
        organization = {"X-Organization-Id": str(self.tenant.organization_id)}
        path = calls.path_of(operation, ids, sent.parts)
        return await self.client.request(
            operation.method,
            path,
            headers=organization | credential | besides,
            content=content_of(sent.body(ids)),
        )

    async def _key(self, operation: Operation) -> str:
        """A key with the permission of this operation alone, as far as keys may hold it."""
        granted = self.granted.get(operation.permission or "")
        scope = granted.code if granted is not None and granted.keys else keys.READ
        if scope not in self.keys:
            self.keys[scope] = await keys.key(
                self.host, self.tenant.owner, self.tenant.organization_id, [scope]
            )
        return self.keys[scope]

    async def _kinds(self, ids: Mapping[str, UUID]) -> dict[str, str]:
        """What each identifier of a call is, by the table that it is a row of."""
        found = {}
        for name, id_ in ids.items():
            for kind, table in _KINDS.items():
                text = f"SELECT EXISTS (SELECT FROM {table} WHERE id = $1)"
                if await self.admin.fetchval(text, id_):
                    found[name] = kind
        return found


def _is_json(answer: Answer) -> bool:
    return any(name == "content-type" and "json" in value for name, value in answer.headers) or (
        not answer.content
    )


def _plain(answer: Answer) -> bytes:
    """Everything that an answer shows, archives unpacked."""
    shown = answer.content + repr(answer.headers).encode()
    if answer.content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            shown += b"".join(archive.read(name) for name in archive.namelist())
    if answer.content.startswith(b"%PDF-"):
        shown += _printed(answer.content)
    return shown


def _printed(content: bytes) -> bytes:
    """The text of a PDF; none of bytes that are no PDF."""
    try:
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
    except PyPdfError:
        return b""
    return " ".join(pages).encode()


async def prepare(
    client: Straight, host: Host, admin: asyncpg.Connection, granted: Mapping[str, Granted]
) -> Sweep:
    """A company with documents, files and members of every kind, and strangers."""
    tenant, other = await actors.tenant(host), await actors.tenant(host)
    here = tenant.organization_id
    everyone = await _members(host, here)
    await actors.plant(admin, tenant)
    subjects = [await make_subject(host, tenant, name) for name in (CONFIDENTIAL, PERSONAL, TEAM)]
    subjects += [await make_print(host, tenant, name) for name in (CONFIDENTIAL, PERSONAL)]
    staff = await identity.person(host, staff=True)
    nobody = frozenset([STRANGERS, PERSONAL, CONFIDENTIAL, TEAM])
    bidder = frozenset([PERSONAL, TEAM])
    every_class = frozenset([PERSONAL, CONFIDENTIAL, TEAM])
    callers = [
        Caller("anonymous", {}, nobody),
        Caller("other tenant", other.owner.headers, nobody),
        Caller("staff without role", staff.headers, nobody),
        # Keys act for the organization, so they are in the team of every bid.
        Caller("key", {}, frozenset([PERSONAL, CONFIDENTIAL]), scope="its own"),
        Caller("viewer", everyone["viewer"], every_class),
        Caller("contributor", everyone["contributor"], every_class),
        Caller("bid manager", everyone["bid_manager"], bidder),
        Caller("compliance officer", everyone["compliance_officer"], frozenset([TEAM])),
        Caller("administrator", everyone["administrator"], frozenset([TEAM])),
    ]
    return Sweep(client, host, admin, tenant, subjects, callers, granted)


async def _members(host: Host, organization_id: UUID) -> dict[str, Mapping[str, str]]:
    roles = ("viewer", "contributor", "bid_manager", "compliance_officer", "administrator")
    made = await asyncio.gather(
        *(identity.member(host, organization_id, role=role) for role in roles)
    )
    return {role: who.headers for role, who in zip(roles, made, strict=True)}


async def make_subject(
    host: Host, tenant: Tenant, name: str, *, mark: str | None = None
) -> Subject:
    """A document with what hangs on it, and an archive; of a team, the archive of its bid."""
    mark = mark or f"{name}{uuid4().hex}"
    here, owner = tenant.organization_id, tenant.owner.user_id
    if name == TEAM:
        space = await bid.workspace(host, here, owner, access="team")
        return Subject(name, mark, {"file": await _file(host, space, mark)})
    filed = await compliance_filed.filed(host, here, name, mark=mark)
    space = await bid.workspace(host, here, owner)
    ids = {
        "document": filed.document_id,
        "evidence": filed.evidence_id,
        "verification": filed.verification_id,
        "suggestion": filed.suggestion_id,
        "file": await _file(host, space, mark, document_class=name),
    }
    return Subject(name, mark, ids)


async def make_print(host: Host, tenant: Tenant, name: str) -> Subject:
    """A form that prints the mark as a tax PIN, or as the identity number of a director."""
    mark = str(uuid4().int)[:13]  # a print breaks and joins the letters of longer words
    space = await bid.workspace(host, tenant.organization_id, tenant.owner.user_id)
    form = await bid_offer.form(
        host, space.organization_id, space.id, "SBD 1" if name == CONFIDENTIAL else "SBD 4"
    )
    definition = forms.definition_of(form.form_code, form.edition)
    assert definition is not None
    rows = [{"directorId": "director", "institution": "None"}]
    answers = {"2.1.1": form_values.Answer(value=rows)}
    filled = form_values.fill(definition, answers, {})
    plain = Plain(by_field={"s.tcs_pin": mark})
    if name == PERSONAL:
        plain = Plain(id_numbers={"director": mark}, names={"director": "Nomsa Dube"})
    work = bid.working(host, tenant.organization_id)
    rendered = await rendering.render(work, space, definition, filled, plain)
    held = await work.lock(SbdForm, form.id)
    held.rendering = await rendering.keep(work, space, rendered)
    await work.save(held)
    await work.finish()
    ids = {"file": UUID(held.rendering["file_id"]), "form": form.id}
    return Subject(name, mark, ids, is_read_only=True)


async def _file(
    host: Host, space: Workspace, mark: str, *, document_class: str | None = None
) -> UUID:
    """An archive of a bid that holds the mark in a member, not in its own bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1 Evidence.pdf", mark * 20)
    area, content = f"bid/packs/{space.organization_id}", packed.getvalue()
    stored = await host.files.put(area, _once(content), most_bytes=len(content))
    work = bid.working(host, space.organization_id)
    found = await work.get(Workspace, space.id)
    made = await files.keep(
        work,
        found,
        stored,
        name=f"{mark}.zip",
        purpose=files.ARCHIVE,
        price=False,
        document_class=document_class,
    )
    await work.finish()
    return made.id


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
