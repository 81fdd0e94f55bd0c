"""What time and the operator do to a bid: each thing once, in its order, for what starts later."""

from datetime import timedelta
from uuid import UUID

import pytest

from tests.domains.bid.test_approvals import asked, decided
from tests.factories import bid as factory
from tests.factories.bid_offer import CASH
from tests.factories.bidding import Bidding
from tests.factories.settings import change_setting
from thenga.domains.bid.manifest import DOMAIN
from thenga.domains.bid.settings import APPROVAL_DAYS
from thenga.domains.bid.tables import Approval
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import add_working_days, local_day

TOLD_BY_TIME = ("BidTaskOverdue", "ApprovalVoided", "BidWorkspaceChanged")


@pytest.mark.rule("BID-5")
@pytest.mark.rule("BID-9")
@pytest.mark.rule("BID-39")
async def test_four_hundred_days_are_told_once_and_in_order(bidding: Bidding) -> None:
    await bidding.colleague("approver")
    await asked(bidding, await bidding.priced(CASH))
    now = bidding.work().now
    due = (now + timedelta(days=1)).isoformat().replace("+00:00", "Z")
    task = {"title": "Ask for quotes", "dueAt": due}
    made = await bidding.post(f"{bidding.path}/tasks", task)
    assert made.status_code == 201, made.text

    await bidding.until(now + timedelta(days=400))

    events = await factory.all_told(bidding.host, bidding.owner.organization_id)
    told = [one["type"].split(".")[1] for one in events]
    by_time = [one for one in told if one in TOLD_BY_TIME]
    print(f"days=400 told={','.join(by_time)}")
    assert by_time == list(TOLD_BY_TIME)
    assert events[-1]["data"]["status"] == "lapsed"


@pytest.mark.rule("BID-55")
async def test_a_policy_of_three_days_counts_from_then_on(bidding: Bidding, host: Host) -> None:
    await bidding.colleague("approver")
    workbook = await bidding.priced(CASH)
    running = (await asked(bidding, workbook)).json()
    try:
        changed = await change_setting(host, DOMAIN, APPROVAL_DAYS, 3)
        (kept,) = await bidding.rows(Approval)
        await decided(bidding, running, bidding.owner, "cancel")
        second = (await asked(bidding, workbook)).json()
    finally:
        await change_setting(host, DOMAIN, APPROVAL_DAYS, APPROVAL_DAYS.default)

    rows = {str(one.id): one for one in await bidding.rows(Approval)}
    today = local_day(bidding.work().now)
    ends = [local_day(one.expires_at) for one in (kept, rows[second["id"]])]
    assert ends == [add_working_days(today, days, frozenset()) for days in (5, 3)]
    assert await _acknowledgements(host, changed) == 1


async def _acknowledgements(host: Host, config_id: UUID) -> int:
    """How often the domain has acknowledged a change of a setting."""
    async with host.engines.connection("bid", "bid_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM bid.outbox "
            "WHERE envelope::jsonb ->> 'type' = 'bid.PolicyAcknowledged.v1' "
            "AND envelope::jsonb -> 'data' ->> 'configId' = $1",
            str(config_id),
        )
    return found
