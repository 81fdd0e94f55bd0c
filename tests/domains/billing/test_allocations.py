"""Credit pays invoices: each its own money first, and nothing that is owed stays alone."""

from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from thenga.domains.billing.services import subscription_clock
from thenga.kernel.calendar import local_midnight
from thenga.kernel.host import Host

NOVEMBER = datetime(2026, 11, 14, 8, tzinfo=UTC)


async def renew(payer: Payer, subscription_id: UUID) -> UUID:
    """Bill the next period; the payment that was begun for it."""
    work = payer.work()
    await subscription_clock.pass_time(work, subscription_id)
    await work.finish()
    (row,) = await payer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing' "
        "ORDER BY id DESC LIMIT 1"
    )
    return UUID(str(row["id"]))


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-33")
async def test_money_that_came_for_one_invoice_never_pays_another(
    host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, NOVEMBER)
    base, boost = await payer.buy("professional"), await payer.buy("ai-boost")
    clock.set(local_midnight(date(2026, 12, 14)))
    charges = [await renew(payer, one.id) for one in (base, boost)]

    await payer.answer(charges[0], "soft")
    await payer.answer(charges[1], "ok")
    await payer.settle()

    found = await payer.rows(
        "SELECT gross_minor, amount_due_minor, status FROM billing.invoice "
        "WHERE organization_id = $1 AND purpose = 'renewal' ORDER BY number"
    )
    print([dict(row) for row in found])
    assert [tuple(row) for row in found] == [(149900, 149900, "open"), (29900, 0, "paid")]
