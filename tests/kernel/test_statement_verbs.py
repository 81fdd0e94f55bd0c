"""The verbs that lists and changes are made of: what was not given changes nothing."""

from datetime import UTC, date, datetime
from enum import StrEnum
from uuid import uuid4

import pytest
import sqlalchemy as sa

from thenga.domains.billing.tables import Payment, PaymentStatus
from thenga.domains.organization.tables import Address
from thenga.kernel.db import statements
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among, on_local_days, render, where_given
from thenga.kernel.process.host import Host

TABLE = sa.table("probe", sa.column("kind", sa.Text), sa.column("primary", sa.Boolean))
AT = sa.column("at", sa.DateTime(timezone=True))


def test_a_filter_that_was_not_given_is_no_condition():
    statement = sa.select(TABLE.c.kind)

    nothing = where_given(statement, (TABLE.c.kind, None), (TABLE.c.primary, None))
    text, values = render(where_given(statement, (TABLE.c.kind, "bids"), (TABLE.c.primary, False)))

    assert render(nothing) == render(statement)
    # `false` is a value like any other, and an empty text too.
    assert values == ["bids"]
    assert text.endswith("= false")
    assert render(where_given(statement, (TABLE.c.kind, "")))[1] == [""]


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        (datetime(2026, 3, 1, 21, 59, 59, tzinfo=UTC), False),  # still February's last day but one
        (datetime(2026, 3, 1, 22, 0, tzinfo=UTC), True),
        (datetime(2026, 3, 3, 21, 59, 59, tzinfo=UTC), True),
        (datetime(2026, 3, 3, 22, 0, tzinfo=UTC), False),
    ],
)
async def test_days_are_local_and_the_last_one_counts(host: Host, at: datetime, inside: bool):
    moments = sa.select(sa.literal(at, sa.DateTime(timezone=True)).label("at")).subquery()
    statement = on_local_days(
        sa.select(moments.c.at), moments.c.at, date(2026, 3, 2), date(2026, 3, 3)
    )

    text, arguments = render(statement)
    async with host.engines.connection("billing", "billing") as connection:
        found = await connection.fetch(text, *arguments)

    assert bool(found) is inside


def test_days_without_bounds_are_no_condition():
    statement = sa.select(AT)

    assert render(on_local_days(statement, AT, None, None)) == render(statement)


def test_a_planted_last_day_that_does_not_count_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(statements, "timedelta", lambda days: date.resolution * 0)

    bound = render(on_local_days(sa.select(AT), AT, None, date(2026, 3, 3)))[1]

    assert bound != [datetime(2026, 3, 3, 22, 0, tzinfo=UTC)]


async def test_members_of_an_enum_are_bound_as_what_the_column_holds(host: Host):
    class Size(StrEnum):
        SMALL = "s"
        LARGE = "l"

    text, arguments = render(sa.select(sa.literal(1)).where(among(sa.literal("s"), Size)))
    async with host.engines.connection("billing", "billing") as connection:
        assert await connection.fetchval(text, *arguments) == 1
    assert all(type(one) is str for one in arguments[-1])
    by_member = among(Payment.status, [PaymentStatus.SUCCEEDED])
    by_value = among(Payment.__table__.c.status, [PaymentStatus.SUCCEEDED.value])
    assert render(sa.select(by_member)) == render(sa.select(by_value))


def test_a_merge_patch_sets_what_was_sent_and_names_what_is_new():
    address = Address(
        organization_id=uuid4(),
        kind="postal",
        line1="1 Main Road",
        city="Benoni",
        province="gauteng",
        primary=True,
    )

    changed = merge_patch(address, {"kind": "postal", "province": None, "primary": False})

    assert changed == ["province", "primary"]
    assert (address.kind, address.province, address.primary) == ("postal", None, False)
    assert merge_patch(address, {}) == []
