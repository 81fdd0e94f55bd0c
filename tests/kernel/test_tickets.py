"""Tickets of the file store: for one thing, for a while, for whoever has the keys."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from thenga.kernel.crypto.sealing import BrokenSeal
from thenga.kernel.files.tickets import make_ticket, open_ticket
from thenga.kernel.process.host import Host

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=15)


async def test_a_ticket_opens_one_file_until_it_is_over(host: Host) -> None:
    about = uuid4()
    ticket = make_ticket(host, "compliance/a/b", about=about, expires_at=LATER)

    opened = [open_ticket(host, ticket, about=about, now=now) for now in (NOON, LATER)]

    assert opened == ["compliance/a/b", None]
    assert "compliance" not in ticket


async def test_a_ticket_does_not_open_for_something_else(host: Host) -> None:
    ticket = make_ticket(host, "compliance/a/b", about=uuid4(), expires_at=LATER)

    with pytest.raises(BrokenSeal):
        open_ticket(host, ticket, about=uuid4(), now=NOON)
