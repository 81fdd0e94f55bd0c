"""What is renewed next, read in the middle of a pause and before a first charge is paid."""

from datetime import UTC, datetime

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.subscriptions import customer
from thenga.domains.billing.services.trials import trials
from thenga.kernel.process.host import Host


@pytest.mark.rule("BIL-13")
@pytest.mark.rule("BIL-14")
async def test_a_pause_renews_where_its_days_will_have_gone_on(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer = await customer(host, api, clock, "2026-11-14 10:00")
    path = f"subscriptions/{(await buyer.buy('starter'))['id']}"
    await buyer.at("2026-11-24 10:00")
    assert (await buyer.post(f"{path}/pause", resumeOn="2027-01-10")).status_code == 200

    await buyer.at("2026-12-20 10:00")
    paused, shown = await buyer.get(f"{path}/renewal"), await buyer.get(f"{path}/upcoming-invoice")
    await buyer.at("2027-01-10 10:00")
    unswept = await buyer.get(f"{path}/renewal")

    print(f"renewsOn={paused['renewsOn']} issueDate={shown['issueDate']} {unswept['state']}")
    assert (paused["state"], paused["blockers"]) == ("paused", ["paused"])
    assert paused["renewsOn"] == shown["issueDate"] == shown["periodStart"] == "2027-01-29"
    assert (unswept["state"], unswept["renewsOn"]) == ("upcoming", "2027-01-29")


@pytest.mark.rule("BIL-18")
async def test_before_the_first_charge_is_paid_nothing_is_billed_next(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    payer = await paying.payer(host, clock, datetime(2026, 11, 14, 8, tzinfo=UTC))
    work = payer.work()
    trial = await trials.start_trial(work, plan_code="professional")
    await work.finish()
    headers = await paying.owner_of(host, payer)
    chosen = {"interval": "month", "paymentMethodId": str(payer.method.id), "when": "trial_end"}
    await api.post(f"/billing/trials/{trial.id}/convert", json=chosen, headers=headers)
    payer.card = "soft"
    await payer.at(datetime(2026, 11, 29, 8, tzinfo=UTC))
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{trial.subscription_id}"

    shown = await api.get(f"{path}/renewal", headers=headers)
    refused = await api.get(f"{path}/upcoming-invoice", headers=headers)

    print(f"state={shown.json()['state']} upcoming={refused.status_code} {refused.text}")
    assert (shown.status_code, shown.json()["state"]) == (200, "failed")
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
