"""Cursors of lists that are no table, each bound to the list, the organization and the caller."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from thenga.kernel.db.cursors import Position, open_cursor, seal_cursor
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import InvalidCursor

T = TypeVar("T")


def cut(
    read: Reader, paged: Paged, items: Sequence[T], place: Callable[[T], tuple[str, ...]]
) -> tuple[list[T], str | None]:
    """A page of items that are sorted by their place already, and the cursor of the next."""
    if paged.cursor is not None:
        after = _texts(open_position(read, paged.cursor, bound_to=paged.bound_to))
        if paged.descending:
            items = [one for one in items if place(one) < after]
        else:
            items = [one for one in items if place(one) > after]
    page = list(items[: paged.limit])
    if len(items) == len(page):
        return page, None
    return page, seal_position(read, place(page[-1]), bound_to=paged.bound_to)


def _texts(position: Sequence[Position]) -> tuple[str, ...]:
    found = tuple(one for one in position if isinstance(one, str))
    if len(found) < len(position):
        raise InvalidCursor
    return found


def seal_position(read: Reader, position: Sequence[Position], *, bound_to: str) -> str:
    """A cursor for `position`; `bound_to` names the list and its filters."""
    return seal_cursor(read.host.ring("cursor"), position, bound_to=_bound(read, bound_to))


def open_position(read: Reader, cursor: str, *, bound_to: str) -> list[Position]:
    """The position of a cursor that the same caller got for the same list."""
    return open_cursor(read.host.ring("cursor"), cursor, bound_to=_bound(read, bound_to))


def _bound(read: Reader, bound_to: str) -> str:
    # A person without organization can have lists too, so the scope is asked, not the reader.
    return f"{bound_to}|{read._scope.organization_id}|{read.actor.id}"
