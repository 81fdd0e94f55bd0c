"""What operators see of a customer's subscription and debts."""

from datetime import timedelta
from uuid import uuid4

from fastapi import FastAPI

from tests.conftest import Time
from tests.factories import paying
from tests.panels import panel_of
from thenga.kernel.process.host import Host
from thenga.kernel.standing.panels import PanelState
from thenga.kernel.values.money import Money


async def test_the_panel_shows_plan_debt_and_access(
    app: FastAPI, host: Host, seeded: None, clock: Time
) -> None:
    payer, _ = await paying.declined(host, clock)
    in_grace, shown = await panel_of(app, "billing", payer.organization_id)
    await payer.at(paying.RENEWED + timedelta(days=20))
    later, reduced = await panel_of(app, "billing", payer.organization_id)

    assert (shown["plan"], shown["subscription"], shown["access"]) == (
        *("professional", "past_due"),
        "grace",
    )
    assert isinstance(shown["due"], Money) and shown["due"].minor > 0
    assert shown["payment_failures_open"] == 1
    assert in_grace is PanelState.WARN
    assert reduced["access"] in ("read_only", "none")
    assert later is PanelState.ALARM


async def test_the_panel_shows_the_next_renewal(
    app: FastAPI, host: Host, seeded: None, clock: Time
) -> None:
    payer = await paying.payer(host, clock, paying.RENEWED)
    bought = await payer.buy("professional")

    state, shown = await panel_of(app, "billing", payer.organization_id)

    renews = shown["next_renewal"]
    assert renews is not None and bought.period_end is not None
    assert shown["due"] == Money(0, "ZAR")
    assert (shown["access"], state) == ("full", PanelState.OK)


async def test_who_was_never_a_customer_has_an_empty_panel(app: FastAPI, host: Host) -> None:
    assert await panel_of(app, "billing", uuid4()) == (PanelState.OK, {})
