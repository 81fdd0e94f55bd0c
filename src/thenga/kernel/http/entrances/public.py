"""Entrances that need no permission: nobody is known, or perhaps somebody is."""

from enum import StrEnum
from typing import Any, TypeVar

from fastapi import Depends, Request

from thenga.kernel.access.actors import NOBODY, Scope
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.http.entrances.entrance import Entrance, Limit, facts_of, let_in, origin_of
from thenga.kernel.http.shared import shared_of

U = TypeVar("U", bound=Reader)


class _Anyone(Entrance):
    writing = True

    def __init__(self, limit: Limit, *, foreign_query: bool) -> None:
        self.limit = limit
        self.foreign_query = foreign_query

    async def open(self, request: Request, domain: str) -> Work:
        return await _for_nobody(Work, request, domain, self.limit)


class _AnyoneReads(Entrance):
    def __init__(self, limit: Limit) -> None:
        self.limit = limit

    async def open(self, request: Request, domain: str) -> Reader:
        return await _for_nobody(Reader, request, domain, self.limit)


class _Perhaps(Entrance):
    """Open to whoever brings the secret in the body; a credential that is sent must be good."""

    writing = True

    def __init__(self, permission: StrEnum, limit: Limit) -> None:
        self.known_by = permission.value
        self.limit = limit

    async def open(self, request: Request, domain: str) -> Work:
        shared, facts = shared_of(request), facts_of(request)
        await shared.limits.hit_address(self.limit(shared), facts.network)
        if b"authorization" not in facts.headers:
            return Work(shared.host, domain, Scope(NOBODY), origin_of(facts, "public", None))
        assert self.known_by is not None  # noqa: S101  # set by __init__
        passed = await let_in(shared, facts, self.known_by, None, shared.rules.actor)
        scope = Scope(passed.actor, user_id=passed.user_id)
        origin = origin_of(facts, "public", passed.decision_id)
        work = Work(shared.host, domain, scope, origin)
        work.held_as = passed.held_as
        work.proven_at, work.proof_methods = passed.proven_at, passed.proof_methods
        return work


async def _for_nobody(unit: type[U], request: Request, domain: str, limit: Limit) -> U:
    shared, facts = shared_of(request), facts_of(request)
    await shared.limits.hit_address(limit(shared), facts.network)
    return unit(shared.host, domain, Scope(actor=NOBODY), origin_of(facts, "public", None))


def anyone(limit: Limit, *, foreign_query: bool = False) -> Any:
    """A `Work` for sign-in and the like: nobody is known yet; limited by address.

    With `foreign_query`, a provider sends the browser here, and may say more than we asked for.
    """
    return Depends(_Anyone(limit, foreign_query=foreign_query))


def anyone_reads(limit: Limit) -> Any:
    """A `Reader` for public pages: nobody is known, so only what is public is there to read."""
    return Depends(_AnyoneReads(limit))


def perhaps(permission: StrEnum, limit: Limit) -> Any:
    """As `anyone`; who sends a credential is known by it, and refused if it is not good."""
    return Depends(_Perhaps(permission, limit))
