"""The record family: the verbs by which a record is written, and its versions read.

Each change writes the live row and, in the same transaction, an append-only version: the record as
it then stood, which fields changed, who said it. A version never changes, so it can be cited
(ORG-7). Rows are a parameter here; what a record holds and who may change it is said elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import orjson
from sqlalchemy import ColumnElement, LargeBinary, Select, Table, select

from thenga.domains.organization.services.records import amounts, edges, health_due, sealed_values
from thenga.domains.organization.services.records.sealed_values import Place, Subject
from thenga.domains.organization.tables import Record, RecordKind, RecordVersion
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row, merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Duplicate, NotFound, RuleViolated
from thenga.kernel.values.json_writer import to_json

R = TypeVar("R", bound=Record)

SORTS: dict[str, ColumnElement[Any] | None] = {"version": RecordVersion.record_version}
_ABOUT_THE_ROW = frozenset(
    {"id", "organization_id", "created_at", "updated_at", "version", "provenance"}
)


async def add(
    work: Work,
    row: Record,
    *,
    kind: RecordKind = RecordKind.CUSTOMER_SUPPLIED,
    source: dict[str, Any] | None = None,
) -> list[str]:
    """Record something new, as its own version 1; the wire names of what was given."""
    given = [name for name in _facts(row) if row.__dict__[name] not in (None, [], {}, "")]
    row.provenance = _provenance(work, row, given, 1, kind, source)
    await work.add(row)
    await _keep(work, row, given, kind, source)
    await health_due.mark_health_due(work)
    return amounts.wire_names(given)


async def change(work: Work, row: Record, fields: Mapping[str, Any]) -> list[str]:
    """Set the fields of a locked record that differ; the wire names of what changed."""
    merge_patch(row, fields)
    return await save(work, row)


def wire_name(column: str) -> str:
    """The name by which callers know a column."""
    return amounts.camel(column)


def change_event(row: Record, change: str, fields: list[str]) -> dict[str, Any]:
    """What every event about a record says of it."""
    return {
        "organization_id": row.organization_id,
        "record_id": row.id,
        "record_version": row.version,
        "change": change,
        "changed_fields": fields,
    }


async def save(
    work: Work,
    row: Record,
    *,
    kind: RecordKind = RecordKind.CUSTOMER_SUPPLIED,
    source: dict[str, Any] | None = None,
) -> list[str]:
    """Write what was set on a locked record; the wire names of what changed, if anything did.

    What is only planned for the record (`unseen`) is written without a version.
    """
    touched = work.changes(row)
    changed = [name for name in row.__columns__ if name in touched and name not in row.unseen]
    if changed:
        row.provenance = _provenance(work, row, changed, row.version + 1, kind, source)
    await work.save(row)
    if changed:
        await _keep(work, row, changed, kind, source)
    if touched:
        # A check is no version of the record, but health hangs on it too.
        await health_due.mark_health_due(work)
    return amounts.wire_names(changed)


async def archive(work: Work, row: Record) -> list[str]:
    """Take it out of the lists; it stays readable, and a second time changes nothing."""
    if row.archived_at is None:
        row.archived_at = work.now
    return await save(work, row)


async def erase(work: Work, row: Record) -> list[str]:
    """Empty and archive a locked record of a person, and destroy the key of its versions (ORG-16).

    Its last version is written before the key goes, so that no version is readable afterwards.
    """
    for name in _personal(row):
        setattr(row, name, None)
    changed = await archive(work, row)
    await sealed_values.destroy(work, Subject(type_of(row), row.id))
    return changed


@contextmanager
def once(detail: str, *, field: str) -> Iterator[None]:
    """Whatever may exist once and is there already is refused by the database, and told so."""
    try:
        yield
    except asyncpg.UniqueViolationError:
        raise Duplicate(detail, field=field) from None


def not_archived(row: Record) -> None:
    """What is archived is only read."""
    if row.archived_at is not None:
        raise Conflict("This record is archived and cannot be changed.")


def in_order(first: date | None, last: date | None) -> None:
    """A time that is over before it began is a typing mistake."""
    if first is not None and last is not None and last < first:
        raise RuleViolated("The last day is before the first day.", rule="valid-from-to")


async def in_turn(work: Work, row: type[Row], about: str = "") -> None:
    """Wait for whoever is changing what holds over several records of this kind at once.

    A sum or the one primary cannot be judged from one row's lock; the wait ends with their commit.
    """
    named = f"{work.organization_id} {row.__table__.name} {about}"
    await work.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", named)


def kept(row: type[R], *, archived: bool) -> Select[R]:
    """The records that a list shows: the archived ones only where they are asked for."""
    statement: Select[R] = _kept(row.__table__, archived)
    return statement


@cache  # composing it takes longer than all else that a page's statement needs
def _kept(table: Table, archived: bool) -> Any:
    at = table.c.archived_at
    return select(table).where(at.is_not(None) if archived else at.is_(None))


async def versions(
    read: Reader, row: type[Record], record_id: UUID, paged: Paged
) -> Slice[RecordVersion]:
    """What a record was after each change, page by page."""
    await read.get(row, record_id)
    statement = select(RecordVersion).where(RecordVersion.record_id == record_id)
    found = await read.page(statement, paged, SORTS[paged.sort])
    await _open(read, row, found.items)
    return found


async def version(read: Reader, row: type[Record], record_id: UUID, number: int) -> RecordVersion:
    """The record as it was in that version; one that changed only its planning is as before."""
    live = await read.get(row, record_id)
    if number > live.version:
        raise NotFound()
    statement = (
        select(RecordVersion)
        .where(RecordVersion.record_id == record_id, RecordVersion.record_version <= number)
        .order_by(RecordVersion.record_version.desc())
    )
    found = await read.all(statement, limit=1)
    if not found:
        raise NotFound()
    await _open(read, row, found)
    return found[0]


def type_of(row: Record | type[Record]) -> str:
    """What a reference calls this kind of record: `equipment`, `pastProject`."""
    return amounts.camel(str(row.__table__.name))


def origins(row: Record) -> dict[str, Any]:
    """Who said what of a record: `provenance` of the latest version, `field_provenance` of each."""
    known = row.provenance
    return {
        "provenance": {
            "kind": known.get("kind", RecordKind.CUSTOMER_SUPPLIED),
            "source": known.get("source"),
            "confidence": None,
            "recordedAt": known.get("recordedAt", row.created_at),
        },
        "field_provenance": known.get("fields", {}),
    }


def summary_of(row: Record, fields: Iterable[str], derived: Mapping[str, Any]) -> dict[str, Any]:
    """Some fields of a record as the API writes them; `derived` are those of no column."""
    named = {name: derived[name] if name in derived else row.__dict__[name] for name in fields}
    shown: dict[str, Any] = _as_json(amounts.joined(named))
    return shown


async def _keep(
    work: Work,
    row: Record,
    changed: Iterable[str],
    kind: RecordKind,
    source: dict[str, Any] | None,
) -> None:
    """The one place that every version of every record passes: it keeps the graph with it."""
    shown = {name: row.__dict__[name] for name in _facts(row) if name not in row.__secret__}
    sealed = await _sealed(work, row)
    await work.add(
        RecordVersion(
            organization_id=row.organization_id,
            record_type=type_of(row),
            record_id=row.id,
            record_version=row.version,
            kind=kind,
            source=source,
            changed_fields=amounts.wire_names(changed),
            snapshot=_as_json(amounts.joined(shown)),
            sealed=sealed,
            actor_kind=work.actor.kind,
            actor_id=work.actor.id,
        )
    )
    if row.version == 1 or source is not None or edges.matters(changed):
        here = edges.Node(type_of(row), str(row.id))
        hangs_on = edges.of_record(row, here.type, source)
        await edges.save_edges(work, here, hangs_on, kind=kind.value, first=row.version == 1)


async def _sealed(work: Work, row: Record) -> bytes | None:
    """What a version holds of a person, under the record's own key: erasing takes all versions."""
    personal = {name: row.__dict__[name] for name in _personal(row)}
    if not personal:
        return None
    key = await sealed_values.key_for(work, Subject(type_of(row), row.id))
    text = to_json(_named(personal)).decode()
    return sealed_values.seal(key, text, _place(row.organization_id, row.id, row.version))


async def _open(read: Reader, row: type[Record], found: Sequence[RecordVersion]) -> None:
    """Put what was sealed back into the snapshots; what stays sealed was erased."""
    if not any(one.sealed for one in found):
        return
    subject = Subject(type_of(row), found[0].record_id)
    key = (await sealed_values.keys_of(read, [subject])).get(subject)
    for one in found:
        if one.sealed is None:
            continue
        if key is None:
            one.snapshot |= dict.fromkeys(map(amounts.camel, _personal(row)))
            continue
        place = _place(one.organization_id, one.record_id, one.record_version)
        one.snapshot |= orjson.loads(sealed_values.unseal(key, one.sealed, place))
        one.sealed = None


def _place(organization_id: UUID, record_id: UUID, number: int) -> Place:
    return Place(organization_id, record_id, "snapshot", number)


def _personal(row: Record | type[Record]) -> list[str]:
    """The columns that say something of a person; bytes are sealed by themselves already."""
    return [name for name in _facts(row) if name in row.__secret__]


def _facts(row: Record | type[Record]) -> list[str]:
    """The columns that say something of the thing itself."""
    return _columns_but(row.__table__, _ABOUT_THE_ROW | row.unseen)


@cache  # each write looks at them three times
def _columns_but(table: Table, hidden: frozenset[str]) -> list[str]:
    return [
        str(column.name)
        for column in table.columns
        if column.name not in hidden and not isinstance(column.type, LargeBinary)
    ]


def _provenance(
    work: Work,
    row: Record,
    changed: Iterable[str],
    number: int,
    kind: RecordKind,
    source: dict[str, Any] | None,
) -> dict[str, Any]:
    said = {name: {"kind": kind.value, "version": number} for name in amounts.wire_names(changed)}
    return {
        "kind": kind.value,
        "source": source,
        "recordedAt": _as_json(work.now),
        "fields": row.provenance.get("fields", {}) | said,
    }


def _as_json(value: Any) -> Any:
    """Values and names as the API writes them, however deep."""
    return orjson.loads(to_json(_named(value)))


def _named(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {amounts.camel(name): _named(inner) for name, inner in value.items()}
    return [_named(one) for one in value] if isinstance(value, list) else value
