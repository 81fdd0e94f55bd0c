"""`Reader`: the door to the database for whoever only reads.

It opens its transaction with the first statement, sets who it is for, and is closed by the edge.
Every read is bound to the organization twice: by row security, and by the filter added here.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
from sqlalchemy import Column, ColumnElement, Select

from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import statements
from thenga.kernel.db.cursors import seal_cursor
from thenga.kernel.db.engine import Connection
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.paging import (
    Paged,
    Slice,
    bounded_statement,
    cut_records,
    page_statement,
)
from thenga.kernel.db.rows import Row, row_of
from thenga.kernel.db.statements import Named
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import NotFound, SearchTooBroad
from thenga.kernel.process.host import Host
from thenga.kernel.values.clock import of_sandbox

R = TypeVar("R", bound=Row)
T = TypeVar("T")
P = TypeVar("P", bound=Port)

_OF_ORGANIZATION = (Kind.PRIVATE, Kind.PUBLISHED)
_OF_EITHER = (Kind.TWO_PARTY, Kind.SPONSORED)  # an organization or a person
_KEPT = ("organization_id", statements.SHARED)  # its keeper, or everybody
_PARTIES = ("organization_id", "counterparty_id")  # either of which is whom this is for
_OWN_PLAN = "SET LOCAL plan_cache_mode = force_custom_plan"
_BY_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off"


@cache
def _asked_of(statement: Select[Any]) -> type[Row]:
    """The row class of a statement that is composed once, and so looked at once."""
    return row_of(statement.columns_clause_froms[0])


def _leave_out(
    statement: Select[R], row: type[Row], without: Sequence[Column[Any]]
) -> tuple[Select[R], tuple[str, ...] | None]:
    """The statement without some columns of its row, and the columns that it loads then."""
    if not without:
        return statement, None
    names = {column.key for column in without}
    columns = tuple(name for name in row.__columns__ if name not in names)
    return statement.with_only_columns(*(row.__table__.c[name] for name in columns)), columns


class Reader:
    """Reads of one unit of work."""

    _begin = "BEGIN READ ONLY"

    def __init__(
        self, host: Host, domain: str, scope: Scope, origin: Origin, *, login: str | None = None
    ) -> None:
        self.host = host
        self.domain = domain
        self.origin = origin
        self._base_now = host.now()
        self.now: datetime = of_sandbox(self._base_now, scope.clock_offset)
        # The entrance of a known caller names their right; nobody has none.
        self.held_as = "nobody" if scope.actor.kind is ActorKind.NOBODY else "system"
        self.obligations: list[dict[str, Any]] = []
        self.proven_at: datetime | None = None
        self.proof_methods: tuple[str, ...] = ()
        self.settings_at: dict[datetime, dict[str, Any]] = {}  # see kernel/db/configuration.py
        self._scope = scope
        self._login = login
        self._pool = host.engines.pool(domain, login)
        self._connection: Connection | None = None

    @property
    def actor(self) -> Actor:
        return self._scope.actor

    @property
    def organization_id(self) -> UUID:
        """The organization this is for; asking where there is none is a defect of a job.

        Who came through a door may have named none: staff, or a person who acts for themselves.
        Then what belongs to an organization is not there for them.
        """
        if self._scope.organization_id is not None:
            return self._scope.organization_id
        if self.held_as == "system":
            raise LookupError("this unit of work was opened for no organization")
        raise NotFound(
            "No organization is active. Send `X-Organization-Id`, or switch the session with "
            "`POST /identity/sessions/{sessionId}/switch-organization`."
        )

    @property
    def has_organization(self) -> bool:
        """Whether this is for an organization at all; a person may act for none."""
        return self._scope.organization_id is not None

    @property
    def user_id(self) -> UUID:
        """The person this is for; asking where there is none is a defect."""
        if self._scope.user_id is None:
            raise LookupError("this unit of work was opened for no person")
        return self._scope.user_id

    @property
    def has_begun(self) -> bool:
        """Whether a statement was made, so that a transaction waits for what comes next."""
        return self._connection is not None

    def now_in(self, ahead: timedelta) -> datetime:
        """This unit's one moment by the clock of an organization that runs so far ahead.

        For whoever was let in as a person, or as nobody, and acts on what is an organization's.
        """
        return of_sandbox(self._base_now, ahead)

    async def get(self, row: type[R], id: UUID) -> R:  # noqa: A002
        """The row of this identifier, or `NotFound`, also where it belongs to somebody else."""
        found = await self._one(row, self._key_of(row, id))
        if found is None:
            raise NotFound()
        return found

    async def find(self, row: type[R], **columns: Any) -> R | None:
        """The one row with these values, or none; found by a unique key."""
        return await self._one(row, self._bound(row, columns))

    async def all(
        self, statement: Select[R], *, limit: int = 1000, without: Sequence[Column[Any]] = ()
    ) -> list[R]:
        """Every row of a statement that cannot grow without bound.

        Columns that it goes `without`, such as a large document, are neither read nor decoded.
        They are not on the rows either, also once they are locked by `Work.hold`.
        """
        row = row_of(statement.columns_clause_froms[0])
        statement, columns = _leave_out(statement, row, without)
        records = await self._fetch(self._limited(row, statement).limit(limit))
        return [row.load(record, columns) for record in records]  # type: ignore[misc]  # R's class

    async def select_prepared(
        self, statement: Select[R], *, limit: int = 1000, **values: Any
    ) -> list[R]:
        """As `all`, of a statement that is composed once, at the top of its module.

        It names its values by `bindparam`. For what is asked in almost every unit of work:
        composing a statement takes longer than its round trip.
        """
        row = _asked_of(statement)
        holder = next(iter(self._bound(row, {}).items()), None)
        text, arguments = bounded_statement(statement, row, holder, values | {"_most": limit})
        connection = await self._open()
        records = await connection.fetch(text, *arguments)
        return [row.load(record) for record in records]  # type: ignore[misc]  # row is R's class

    async def values(self, statement: Select[T], *, limit: int = 1000) -> list[T]:
        """The first column of every result row."""
        return [record[0] for record in await self._fetch(statement.limit(limit))]

    async def value(self, statement: Select[T], **named: Any) -> T | None:
        """The first column of the first result row."""
        text, arguments = statements.render(statement, named)
        connection = await self._open()
        found: T | None = await connection.fetchval(text, *arguments)
        return found

    async def records(self, statement: Select[*tuple[Any, ...]]) -> Sequence[asyncpg.Record]:
        """Result rows of several columns, by name."""
        return await self._fetch(statement)

    async def search(
        self, statement: Select[*tuple[Any, ...]], *, seconds: float = 2.0, unordered: bool = False
    ) -> Sequence[asyncpg.Record]:
        """As `records`, but no longer than so many seconds: then `SearchTooBroad`.

        Each search is planned for its own words. `unordered` takes the first hits in any order,
        by indexes alone: where the planner expects too many hits, it would read the whole table.
        This unit of work can go on after a refusal, with statements as long as before.
        """
        text, arguments = statements.render(statement)
        connection = await self._open()
        limit = f"SET LOCAL statement_timeout = {int(seconds * 1000)}; {_OWN_PLAN}"
        limit += f"; {_BY_INDEX}" if unordered else ""
        await connection.execute(f"SAVEPOINT search; {limit}")
        try:
            return await connection.fetch(text, *arguments)
        except asyncpg.QueryCanceledError:
            raise SearchTooBroad() from None
        finally:
            if not connection.is_closed():
                await connection.execute("ROLLBACK TO SAVEPOINT search; RELEASE SAVEPOINT search")

    async def page(
        self,
        statement: Select[R],
        paged: Paged,
        by: ColumnElement[Any] | None = None,
        *,
        without: Sequence[Column[Any]] = (),
    ) -> Slice[R]:
        """One page in keyset order (and the identifier), with a sealed cursor.

        The order is the column that the route names in `paged`, or `by` where a service maps it.
        `without` is that of `all`.
        """
        by = paged.by if by is None else by
        row = row_of(statement.columns_clause_froms[0])
        statement, columns = _leave_out(statement, row, without)
        bound_to = f"{paged.bound_to}|{self._scope.organization_id}|{self.actor.id}"
        ring = self.host.ring("cursor")
        holder = next(iter(self._bound(row, {}).items()), None)
        text, arguments = page_statement(
            statement, row, paged, by, holder=holder, ring=ring, bound_to=bound_to
        )
        connection = await self._open()
        records = await connection.fetch(text, *arguments)
        items = [row.load(record, columns) for record in records[: paged.limit]]
        after = None
        if len(records) > paged.limit:
            after = paged.seal_after(ring, bound_to, records[paged.limit - 1])
        return Slice(items, after)  # type: ignore[arg-type]  # row is R's class

    async def page_records(
        self,
        statement: Select[*tuple[Any, ...]],
        paged: Paged,
        order: tuple[ColumnElement[Any], ColumnElement[Any]],
    ) -> tuple[Sequence[asyncpg.Record], str | None]:
        """As `page` for rows of no one table: result rows by name, and the next cursor."""
        bound_to = f"{paged.bound_to}|{self._scope.organization_id}|{self.actor.id}"
        ring = self.host.ring("cursor")
        cut = cut_records(statement, paged, order, ring=ring, bound_to=bound_to)
        rows = await self._fetch(cut)
        shown = rows[: paged.limit]
        if len(rows) <= paged.limit:
            return shown, None
        last = [shown[-1][str(part.key)] for part in order]
        return shown, seal_cursor(ring, last, bound_to=bound_to)

    def port(self, port: type[P]) -> P:
        """Another domain's port; asked before the first write, never in a loop."""
        return self.host.bindings.of(port)

    async def present(self, presented: bytes) -> None:
        """Show a hash the caller holds; bearer rows are found by nothing else."""
        if self._scope.presented == presented:
            return
        self._scope.presented = presented
        await self._rescope()

    async def become(self, user_id: UUID) -> None:
        """Go on for one person, who has just proved to be that person."""
        if self._scope.user_id not in (None, user_id):
            raise LookupError("this unit of work is another person's already")
        self._scope.user_id = user_id
        await self._rescope()

    async def switch_scope(
        self, *, user_id: UUID | None = None, organization_id: UUID | None = None
    ) -> None:
        """Go on with the rows of one person or of one organization alone; the actor stays.

        One's own always. Another's only where a role of the organization or of the platform let
        the caller in, and the service has seen that it reaches this one. What belongs to a person
        follows the base clock (IDN-51), so a sandbox's time is left behind.
        """
        if self.held_as == "person" and (user_id != self.actor.id or organization_id is not None):
            raise NotFound()  # a second wall behind the gate: another's rows are not there
        scope = self._scope
        self.now -= scope.clock_offset
        scope.user_id, scope.organization_id = user_id, organization_id
        scope.clock_offset = timedelta(0)
        await self._rescope()

    async def enter_organization(
        self, organization_id: UUID, *, ahead: timedelta = timedelta(0)
    ) -> None:
        """Go on for an organization that this unit of work founds or was let into.

        A job of the system login, which finds out on the way whose row it works on, says how far
        that organization's clock is `ahead`.
        """
        if self._scope.organization_id not in (None, organization_id):
            if self.held_as != "system":
                raise NotFound()  # a second wall behind the gate, as in `switch_scope`
            raise LookupError("this unit of work is another organization's already")
        self._scope.organization_id = organization_id
        if ahead:
            self._scope.clock_offset, self.now = ahead, self.now_in(ahead)
        await self._rescope()

    @asynccontextmanager
    async def separate_reader(self) -> AsyncIterator["Reader"]:
        """A short read of its own, so that nothing slow (a password hash) holds a transaction."""
        scope = replace(self._scope)
        reader = Reader(self.host, self.domain, scope, self.origin, login=self._login)
        try:
            yield reader
        finally:
            await reader.close()

    async def close(self) -> None:
        """End the transaction; the edge calls this, nobody else."""
        # What was read is read: a connection that is gone changes nothing, and must not hide why.
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self._end("COMMIT")

    async def _one(
        self,
        row: type[R],
        key: Mapping[Named, Any],
        *,
        locking: bool = False,
        columns: tuple[str, ...] | None = None,
    ) -> R | None:
        text = statements.select_by(row.__table__, tuple(key), locking=locking, loaded=columns)
        connection = await self._open()
        record = await connection.fetchrow(text, *key.values())
        return None if record is None else row.load(record, columns)

    async def _fetch(self, statement: Select[*tuple[Any, ...]]) -> list[asyncpg.Record]:
        text, arguments = statements.render(statement)
        connection = await self._open()
        return await connection.fetch(text, *arguments)

    def _key_of(self, row: type[Row], id: UUID) -> dict[Named, Any]:  # noqa: A002
        if row.__kind__ in _OF_ORGANIZATION:
            return {"organization_id": self.organization_id, "id": id}
        if row.__kind__ is Kind.PERSONAL:
            return {"user_id": self.user_id, "id": id}
        if row.__kind__ is Kind.BETWEEN:
            return {_PARTIES: self.organization_id, "id": id}
        if row.__kind__ is Kind.NOTICE and self._scope.organization_id is not None:
            return {_KEPT: self.organization_id, "id": id}
        if row.__kind__ in _OF_EITHER:
            if self._scope.organization_id is not None:
                return {"organization_id": self.organization_id, "id": id}
            return {"user_id": self.user_id, "id": id}
        return {"id": id}

    def _bound(self, row: type[Row], columns: Mapping[str, Any]) -> dict[Named, Any]:
        bound: dict[Named, Any] = {}
        if row.__kind__ is Kind.PRIVATE and self._scope.organization_id is not None:
            bound["organization_id"] = self._scope.organization_id
        elif row.__kind__ is Kind.BETWEEN and self._scope.organization_id is not None:
            bound[_PARTIES] = self._scope.organization_id
        elif row.__kind__ is Kind.NOTICE and self._scope.organization_id is not None:
            bound[_KEPT] = self._scope.organization_id
        elif row.__kind__ is Kind.PERSONAL and self._scope.user_id is not None:
            bound["user_id"] = self._scope.user_id
        bound.update(columns)
        return bound

    def _limited(self, row: type[Row], statement: Select[R]) -> Select[R]:
        for name, value in self._bound(row, {}).items():
            statement = statement.where(statements.is_any_of(row.__table__, name, value))
        return statement

    async def _open(self) -> Connection:
        if self._connection is None:
            self._connection = await self._pool.acquire()
            await self._connection.execute(f"{self._begin}; {self._scope.opening()}")
        return self._connection

    async def _rescope(self) -> None:
        if self._connection is not None:
            await self._connection.execute(self._scope.opening())

    async def _end(self, word: str) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not connection.is_closed():
                await connection.execute(word)
        except BaseException:
            connection.terminate()  # nobody knows what state it is in
            raise
        finally:
            self._pool.release(connection)
