"""Entrances for whoever holds a permission: reading, writing and uploading."""

from collections.abc import AsyncIterator
from enum import StrEnum
from time import monotonic
from typing import Any

from fastapi import Depends, Request

from thenga.kernel.access import gate as gates
from thenga.kernel.access.actors import OPERATOR, Scope
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import PreconditionRequired
from thenga.kernel.http.bounds import check_length, stream_body
from thenga.kernel.http.entrances.entrance import Entrance, Limit, facts_of, let_in, origin_of
from thenga.kernel.http.entrances.headers import (
    digest_of,
    organization_asked,
    reason_of,
    version_of,
)
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.shared import Shared, shared_of

SLOW_SECONDS = 1.0  # for a body, after which the caller is asked for anew


class _ByPermission(Entrance):
    unit: type[Reader] = Reader

    def __init__(
        self,
        permission: StrEnum,
        *,
        limit: Limit | None = None,
        reason: bool = False,
        for_staff: bool = False,
    ) -> None:
        self.permission = permission.value
        self.limit = limit or of_actors
        self.requires_reason = reason
        self.for_staff = for_staff

    async def open(self, request: Request, domain: str) -> Reader:
        shared, facts = shared_of(request), facts_of(request)
        await shared.limits.hit_address(shared.rules.address, facts.network)
        assert self.permission is not None  # noqa: S101  # set by __init__
        asked = organization_asked(request, facts)
        passed = await let_in(shared, facts, self.permission, asked, self.limit(shared))
        by_staff = passed.held_as is gates.HeldAs.PLATFORM
        scope = Scope(
            actor=passed.actor,
            organization_id=passed.organization_id,
            user_id=passed.user_id,
            platform=by_staff,
            clock_offset=passed.clock_offset,
        )
        if by_staff and self.for_staff:  # as `switch_scope`, by the operator's own clock
            scope = Scope(passed.actor, organization_id=OPERATOR, platform=True)
        origin = origin_of(facts, self.permission, passed.decision_id)
        unit = self.unit(shared.host, domain, scope, origin)
        unit.held_as = passed.held_as
        unit.obligations = passed.obligations
        unit.proven_at, unit.proof_methods = passed.proven_at, passed.proof_methods
        if isinstance(unit, Work):
            self._prepare(request, shared, unit)
        else:
            why = reason_of(facts, required=by_staff and self.requires_reason)
            unit.origin.reason = why if by_staff else None
        return unit

    def _prepare(self, request: Request, shared: Shared, work: Work) -> None:
        work.if_match = version_of(request.headers.get("if-match"))
        if work.if_match is None and self.requires_version:
            raise PreconditionRequired()


class _Writes(_ByPermission):
    unit = Work
    writing = True
    idempotent = True

    def __init__(
        self,
        permission: StrEnum,
        *,
        if_match: bool,
        keyed: bool = True,
        limit: Limit | None = None,
        for_staff: bool = False,
    ) -> None:
        super().__init__(permission, limit=limit, for_staff=for_staff)
        self.requires_version = if_match
        self.idempotent = keyed


class _Uploads(_Writes):
    streams = True

    def __init__(self, permission: StrEnum) -> None:
        # The body is not in memory, so it cannot be compared with the one of an earlier call.
        super().__init__(permission, if_match=False, keyed=False)

    def _prepare(self, request: Request, shared: Shared, work: Work) -> None:
        settings = shared.host.settings
        check_length(request.headers.get("content-length"), settings.upload_bytes)
        chunks = stream_body(
            request,
            shared.bounds,
            settings.upload_bytes,
            seconds=settings.upload_seconds,
            idle_seconds=settings.upload_idle_seconds,
        )
        work.upload = self._while_allowed(request, shared, chunks)
        work.upload_digest = digest_of(request.headers.get("content-digest"))
        super()._prepare(request, shared, work)

    async def _while_allowed(
        self, request: Request, shared: Shared, chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        """The bytes; after a slow end the caller is asked for anew, as with every slow body."""
        begun, facts = monotonic(), facts_of(request)
        async for chunk in chunks:
            yield chunk
        if monotonic() - begun > SLOW_SECONDS and self.permission is not None:
            asked = organization_asked(request, facts)
            await let_in(shared, facts, self.permission, asked, self.limit(shared))


def reads(permission: StrEnum, *, reason: bool = False, for_staff: bool = False) -> Any:
    """A `Reader`, for whoever holds the permission; with `reason`, staff must say why they look.

    What staff say in `X-Admin-Reason` is `origin.reason`, and stands in the audit rows. A route of
    two sides is also `for_staff`: they enter as the operator, others as their own organization.
    """
    return Depends(_ByPermission(permission, reason=reason, for_staff=for_staff))


def writes(
    permission: StrEnum,
    *,
    if_match: bool = False,
    keyed: bool = True,
    limit: Limit | None = None,
    for_staff: bool = False,
) -> Any:
    """A `Work`, for whoever holds the permission; `if_match` where a lost update costs money.

    `keyed=False` is for what has a single-use secret of its own. A `limit` replaces the one that
    applies to all actors. `for_staff` is as in `reads`.
    """
    return Depends(
        _Writes(permission, if_match=if_match, keyed=keyed, limit=limit, for_staff=for_staff)
    )


def uploads(permission: StrEnum) -> Any:
    """A `Work` whose route reads the body from `work.upload`, part by part, limited as it comes."""
    return Depends(_Uploads(permission))


def of_actors(shared: Shared) -> Rule:
    """The limit of all who are known, where an operation has none of its own."""
    return shared.rules.actor
