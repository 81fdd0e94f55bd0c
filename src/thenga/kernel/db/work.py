"""`Work`: the door to the database for whoever changes something.

A change is the row with its version counted up, its audit row, its events and its jobs, all in one
transaction that the edge commits before the answer leaves. Nobody else commits.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, overload
from uuid import UUID

import asyncpg

from thenga.kernel.access.actors import Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import audit, statements
from thenga.kernel.db.engine import SILENT_SECONDS, Connection
from thenga.kernel.db.flush import OutboxRow, enqueue, flush
from thenga.kernel.db.idempotency import Answer, Key, claim
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.db.statements import Named
from thenga.kernel.declare.event import Envelope, Event, envelope_text, mesh_subject
from thenga.kernel.declare.job import Call, Enqueued, Job
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import Duplicate, NotFound, StaleVersion
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

R = TypeVar("R", bound=Row)
P = TypeVar("P", bound=Port)

# What a failed attempt takes back, besides the rows.
_NOTED = ("_versions", "_parties", "_shared", "_events", "_audit", "_jobs")
_OF_PLATFORM = ("platform", "system")  # who may add what belongs to the platform


class UnsavedChange(RuntimeError):
    """A locked row was changed and not saved: a defect, found before anything is committed."""


class Work(Reader):
    """Reads and changes of one unit of work."""

    _begin = "BEGIN"

    def __init__(
        self, host: Host, domain: str, scope: Scope, origin: Origin, *, login: str | None = None
    ) -> None:
        super().__init__(host, domain, scope, origin, login=login)
        self.if_match: int | None = None
        self.upload: AsyncIterator[bytes] | None = None  # the body, where the entrance streams it
        self.upload_digest: str | None = None  # the SHA-256 that its sender promises
        self.called: Any = None  # what a provider's callback says, where the entrance is signed
        self.idempotency: Key | None = None
        self.first: Callable[[Connection], Any] | None = None  # a job's fence, a reaction's inbox
        self._envelope: Envelope | None = None
        self._written = False
        self._locked: dict[int, tuple[Row, dict[str, Any]]] = {}
        self._versions: dict[UUID, int] = {}
        self._parties: dict[UUID, tuple[UUID | None, ...]] = {}  # of rows between organizations
        self._shared: set[UUID] = set()  # notices that everybody reads
        self._events: list[tuple[Event, UUID | None]] = []  # and whose organization it is
        self._audit: list[audit.Entry] = []
        self._jobs: list[Enqueued] = []

    @property
    def envelope(self) -> Envelope:
        """The envelope of the event that this reaction works on: sequence, time and sender."""
        if self._envelope is None:
            raise LookupError("this unit of work reacts to no event")
        return self._envelope

    @envelope.setter
    def envelope(self, envelope: Envelope) -> None:
        self._envelope = envelope

    async def lock(self, row: type[R], id: UUID, *, beside: bool = False) -> R:  # noqa: A002
        """The row, held until the end; the first one locked must have the `If-Match` version.

        What must be locked before it, and is not what the caller speaks of, is locked `beside`.
        """
        return await self._hold(row, self._key_of(row, id), beside=beside)

    async def lock_by(self, row: type[R], *, beside: bool = False, **columns: Any) -> R:
        """As `lock`, found by another unique key."""
        return await self._hold(row, self._bound(row, columns), beside=beside)

    async def hold(self, row: R) -> R:
        """The same object, locked and as it stands now; for one that this work added or read.

        One that is held already is left as it is, with what was set on it. Columns that were left
        out when it was read stay so.
        """
        if id(row) in self._locked:
            return row
        kind, values = type(row), row.__dict__
        columns = None
        if len(values) < len(kind.__columns__):
            columns = tuple(name for name in kind.__columns__ if name in values)
        found = await self._one(kind, self._key_of(kind, row.id), locking=True, columns=columns)
        if found is None:
            raise NotFound()
        row.__dict__.update(found.__dict__)
        self._locked[id(row)] = (row, dict(found.__dict__))
        return row

    async def add(self, row: R) -> R:
        """A new row, with identifier, instants and version 1."""
        await self._insert(row, statements.insert(row.__table__))
        return row

    async def add_or_find(self, row: R, *, by: tuple[str, ...]) -> tuple[R, bool]:
        """The new row, or the one that has the same values, and whether it is new.

        `by` names the columns of a whole unique constraint or index, never of a partial one. Of
        calls at once, one adds. `hold` what was found before you change it.
        """
        key = {name: row.__dict__[name] for name in by}
        if None in key.values():
            raise LookupError(f"{row!r} has no value for one of {by}")
        try:
            is_new = await self._insert(row, statements.insert_once(row.__table__, by))
        except asyncpg.InvalidColumnReferenceError:
            raise LookupError(f"{by} is no whole unique key of {row.__table__}") from None
        if is_new:
            return row, True
        found = await self.find(type(row), **key)
        if found is None:  # it is another organization's, or was just removed
            raise Duplicate()
        return found, False

    async def _insert(self, row: Row, text: str) -> bool:
        if row.__kind__ is Kind.PLATFORM and self.held_as not in _OF_PLATFORM:
            raise NotFound()  # a second wall behind the gate; row security is the third
        connection = await self._write()
        values = row.__dict__
        values["id"] = values["id"] or new_id()
        values["created_at"] = values["updated_at"] = self.now
        values["version"] = 1
        done = await connection.execute(text, *(values[name] for name in row.__columns__))
        if done != "INSERT 0 1":
            return False
        self._note_change(row)
        self._record("created", row, {"after": audit.shown(values, row.__secret__)})
        return True

    async def save(self, row: R) -> R:
        """Write what was changed on a locked row; its version counts up by one."""
        return await self._save(row) if self.changes(row) else row

    async def touch(self, row: R) -> R:
        """As `save`, and the version counts up also where only rows below this one changed."""
        return await self._save(row)

    def changes(self, row: Row) -> dict[str, Any]:
        """What was set on a locked row and is not saved yet."""
        before = self._locked[id(row)][1]
        now = row.__dict__
        return {n: v for n, v in now.items() if v is not before[n] and v != before[n]}

    async def _save(self, row: R) -> R:
        before = self._locked[id(row)][1]
        told = self.changes(row)
        row.updated_at, row.version = self.now, before["version"] + 1
        changed = told | {"updated_at": row.updated_at, "version": row.version}
        connection = await self._write()
        key = type(row).__key__
        text = statements.update(row.__table__, tuple(changed), key)
        arguments = [*changed.values(), *(before[name] for name in key), before["version"]]
        if await connection.execute(text, *arguments) != "UPDATE 1":
            raise StaleVersion()
        self._note_change(row)
        was = {n: before[n] for n in told}
        detail = {
            "before": audit.shown(was, row.__secret__),
            "after": audit.shown(told, row.__secret__),
        }
        self._record("changed", row, detail)
        self._locked[id(row)] = (row, dict(row.__dict__))
        return row

    async def remove(self, row: Row) -> None:
        """Take a short-lived row away (a token, a link); resources are closed, never removed."""
        connection = await self._write()
        key = type(row).__key__
        values = (row.__dict__[name] for name in key)
        await connection.execute(statements.delete(row.__table__, key), *values)

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """A part that is undone alone if it fails: rows, events, audit rows and jobs.

        Its error is raised. A row that was locked before is locked again inside to be changed.
        """
        connection = await self._write()
        earlier, noted = self._locked, {name: copy(getattr(self, name)) for name in _NOTED}
        await connection.execute("SAVEPOINT attempt")
        self._locked = {}
        try:
            yield
            self._check_saved()
        except Exception:
            for key in self._locked.keys() & earlier.keys():
                row, before = earlier[key]
                row.__dict__.update(before)
            self._locked = earlier
            self.__dict__.update(noted)
            if not connection.is_closed():
                await connection.execute("ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt")
            raise
        await connection.execute("RELEASE SAVEPOINT attempt")
        earlier.update(self._locked)
        self._locked = earlier

    async def run(self, statement: str, *arguments: Any) -> str:
        """One conditional statement where a row lock would be the wrong tool; text is constant."""
        connection = await self._write()
        return await connection.execute(statement, *arguments)

    async def query(
        self, statement: str, *arguments: Any, seconds: float | None = None
    ) -> list[Any]:
        """As `run`, where the statement returns rows; a job of the night may give it `seconds`."""
        connection = await self._write()
        if seconds is None:
            return list(await connection.fetch(statement, *arguments))
        await connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
        silent = seconds + SILENT_SECONDS
        found = list(await connection.fetch(statement, *arguments, timeout=silent))
        usual = int(self.host.settings.statement_seconds * 1000)
        await connection.execute(f"SET LOCAL statement_timeout = {usual}")
        return found

    def publish(self, event: Event, *, to: UUID | None = None, to_everybody: bool = False) -> None:
        """Tell a fact about a row that this unit of work added or saved.

        It is for this organization. Of a row between two, `to` names the other party instead; of
        a shared notice it can be `to_everybody`, and then has no tenant.
        """
        if event.domain() != self.domain:
            raise LookupError(f"{self.domain} cannot tell {event.type}")
        if event.type not in self.host.told.get(self.domain, (event.type,)):
            raise LookupError(f"{event.type} is not in the manifest of {self.domain}")
        if event.aggregate_id not in self._versions:
            raise LookupError(f"{event.type} tells of a row that this work did not change")
        if to is not None:
            self._check_addressee(event, to)
        if to_everybody and event.aggregate_id not in self._shared:
            raise LookupError(f"{event.type} tells everybody of a row that is not shared")
        mine = None if to_everybody else self._scope.organization_id
        self._events.append((event, to or mine))

    def _check_addressee(self, event: Event, to: UUID) -> None:
        if to not in self._parties.get(event.aggregate_id, ()):
            raise LookupError(f"{event.type} is for neither party of the row that it tells of")
        # Readers drop an event whose data names another organization than its envelope.
        if getattr(event, "organization_id", to) != to:
            raise LookupError(f"{event.type} names another organization than the one it is for")

    @overload
    def enqueue(
        self, job: Call, *, after: datetime | None = None, organization_id: UUID | None = None
    ) -> None: ...

    @overload
    def enqueue(
        self,
        job: Job,
        *,
        after: datetime | None = None,
        organization_id: UUID | None = None,
        **arguments: Any,
    ) -> None: ...

    def enqueue(
        self,
        job: Call | Job,
        *,
        after: datetime | None = None,
        organization_id: UUID | None = None,
        **arguments: Any,
    ) -> None:
        """Have a job done once this commits; a sweep over all names the organization it is for."""
        if isinstance(job, Call):
            arguments, job = job.arguments, job.job
        scope = self.scope_for(organization_id)
        if after is not None:
            after -= self._scope.clock_offset  # `now` may run ahead; workers wait by the base clock
        self._jobs.append(job.enqueued(arguments, scope, self.origin, after))

    def scope_for(self, organization_id: UUID | None) -> Scope:
        """Whom a job of this work is for: its own organization, or one that a sweep names."""
        mine = self._scope.organization_id
        if organization_id is None or organization_id == mine:
            return self._scope
        if mine is not None:
            raise LookupError("this unit of work is for another organization")
        return replace(self._scope, organization_id=organization_id)

    def note(
        self, action: str, target: tuple[str, UUID | str], detail: dict[str, Any], **more: Any
    ) -> None:
        """An audit row for something that changes no row, such as a refused sign-in."""
        self._audit.append(self._entry(action, target, detail, **more))

    def port(self, port: type[P]) -> P:
        if self._written:
            raise RuntimeError(f"{port.__name__} must be asked before the first write")
        return super().port(port)

    async def close(self) -> None:
        """Roll back what was not finished; the edge calls this, nobody else."""
        # A connection that is gone has rolled back already, and must not hide why it went.
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self._end("ROLLBACK")

    async def finish(self, answer: Answer | None = None) -> None:
        """Write events, audit rows, jobs and the kept answer, and commit; only the edge may."""
        self._check_saved()
        if self._connection is None:
            if not self._jobs and not self._audit:
                return
            await self._open()
        assert self._connection is not None  # noqa: S101  # narrows the type for mypy
        told = [self._told(event, whose) for event, whose in self._events]
        if self.idempotency is not None:
            await self.present(self.idempotency.hash)
        await flush(self._connection, self.domain, told, self._audit, self.idempotency, answer)
        if self._jobs:
            await enqueue(self._connection, self.domain, self._jobs)
        await self._end("COMMIT")

    def _check_saved(self) -> None:
        for row, before in self._locked.values():
            if any(row.__dict__[name] != value for name, value in before.items()):
                raise UnsavedChange(f"{row!r} was changed and not saved")

    async def _hold(self, row: type[R], key: dict[Named, Any], *, beside: bool) -> R:
        found = await self._one(row, key, locking=True)
        if found is None:
            raise NotFound()
        if not beside:
            if self.if_match is not None and self.if_match != found.version:
                raise StaleVersion(currentVersion=found.version)
            self.if_match = None
        self._locked[id(found)] = (found, dict(found.__dict__))
        return found

    async def _write(self) -> Connection:
        self._written = True
        return await self._open()

    async def _open(self) -> Connection:
        if self._connection is not None:
            return self._connection
        if self.idempotency is not None:
            self._scope.presented = self.idempotency.hash
        connection = await super()._open()
        if self.idempotency is not None:
            await claim(connection, self.domain, self.idempotency, self.host.now())
        if self.first is not None:
            await self.first(connection)
        return connection

    def _note_change(self, row: Row) -> None:
        """What events of this work may tell of, and of a row between two, whom they may tell."""
        self._versions[row.id] = row.version
        if row.__kind__ is Kind.NOTICE and row.__dict__["shared"]:
            self._shared.add(row.id)
        if row.__kind__ is Kind.BETWEEN:
            values = row.__dict__
            self._parties[row.id] = (values["organization_id"], values["counterparty_id"])

    def _record(self, change: str, row: Row, detail: dict[str, Any]) -> None:
        if not row.__told__:
            return  # tokens and links come and go with the row they belong to, which is told
        name = row.__table__.name
        self._audit.append(
            self._entry(self.origin.action, (name, row.id), {"change": change} | detail)
        )

    def _entry(
        self, action: str, target: tuple[str, UUID | str], detail: dict[str, Any], **more: Any
    ) -> audit.Entry:
        return audit.entry(
            actor=self.actor,
            action=action,
            target=target,
            detail=detail,
            at=self.now,
            organization_id=self._scope.organization_id,
            user_id=self._scope.user_id,
            request_id=self.origin.request_id,
            decision_id=self.origin.decision_id,
            network=self.origin.network,
            reason=self.origin.reason,
            **more,
        )

    def _told(self, event: Event, organization_id: UUID | None) -> OutboxRow:
        made = new_id()
        text = envelope_text(
            event,
            id=made,
            time=self.now,
            sequence=self._versions[event.aggregate_id],
            organization_id=organization_id,
            actor_id=self.actor.id,
            correlation_id=self.origin.correlation_id,
            causation_id=self.origin.causation_id,
            traceparent=self.origin.traceparent,
        )
        subject, mine = mesh_subject(event, organization_id), organization_id
        if event.aggregate_id in self._parties:
            # The row stays with whoever tells it, as row security wants; the envelope goes over.
            mine = self._scope.organization_id
        return OutboxRow(made, mine, subject, event.aggregate, text, self.now)
