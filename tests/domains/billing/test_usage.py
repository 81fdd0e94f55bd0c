"""Usage: counted once, in its month, told when it crosses, never refused."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS, SEATS, SMS
from tests.planting import plant
from tests.settling import Settle
from tests.through_json import through_json
from thenga.domains.billing import public
from thenga.domains.billing.provider import LocalEntitlements, LocalUsage
from thenga.domains.billing.services.catalogue import entitlement_types
from thenga.domains.billing.services.metering import threshold_events, totals
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.usage import limit_watch, recording
from thenga.domains.billing.tables import STANDING, PlanKind, UsageMonth, UsageTotal
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

SPACES = "bid.workspaces"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, who.organization_id)
    return who


@pytest.fixture
async def reporter(host: Host, owner: people.Member) -> dict[str, str]:
    staff = await people.staff(host, "platform_operator")
    return staff.headers | {"X-Organization-Id": str(owner.organization_id)}


def record(
    host: Host, key: str, quantity: int = 1, meter: str = RUNS, **more: Any
) -> dict[str, Any]:
    at = more.pop("at", host.now()).isoformat().replace("+00:00", "Z")
    return {"meter": meter, "key": key, "quantity": quantity, "occurredAt": at} | more


async def report(
    api: httpx2.AsyncClient, headers: dict[str, str], *records: dict[str, Any]
) -> dict[str, Any]:
    answer = await api.post("/billing/usage", json={"records": records}, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def total(host: Host, who: people.Member, meter: str = RUNS) -> int:
    said = await LocalEntitlements(host).signal(organization_id=who.organization_id, feature=meter)
    return said.used or 0


@pytest.mark.rule("BIL-19")
async def test_use_counts_once_and_a_bad_one_is_rejected_alone(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    now = host.now()
    batch = [
        record(host, "a", 3, at=now),
        record(host, "b", 4, at=now),
        record(host, "a", 3, at=now),
        record(host, "b", 5, at=now),
        record(host, "c", meter="bid.flights"),
        record(host, "d", 0),
        record(host, "e", at=now + timedelta(minutes=6)),
        record(host, "f", at=now - timedelta(days=36)),
        record(host, "g", operation="hold"),
        record(host, "h", 2, at=now - timedelta(days=34)),
    ]

    first = await report(api, reporter, *batch)
    again = await report(api, reporter, *batch)

    codes = [one["code"] or one["outcome"] for one in first["items"]]
    print(f"first={first['accepted']} again={again['accepted']} total={await total(host, owner)}")
    assert codes == [
        *("accepted", "accepted", "duplicate", "billing-key-conflict", "billing-meter-unknown"),
        *("billing-quantity-invalid", "billing-usage-in-future", "billing-usage-too-old"),
        *("billing-operation-invalid", "accepted"),
    ]
    assert (again["accepted"], again["duplicate"]) == (0, 4)
    assert await total(host, owner) == 7
    listed = await api.get(f"/billing/usage-records?meter={RUNS}", headers=owner.acting)
    assert sorted(one["key"] for one in listed.json()["items"]) == ["a", "b", "h"]


async def test_a_use_ahead_of_billings_clock_is_reported_again(
    host: Host, owner: people.Member
) -> None:
    """A sandbox's clock may reach the domain that reports before it reaches Billing."""
    usage, ahead = LocalUsage(host), host.now() + timedelta(days=60)
    entry = public.UsageEntry(meter=RUNS, key="ahead", quantity=1, occurred_at=ahead)
    given = {"organization_id": owner.organization_id}

    with pytest.raises(DependencyUnavailable):
        await public.report_use(usage, entry=entry, **given)
    now = entry.model_copy(update={"occurred_at": host.now()})
    unknown = now.model_copy(update={"meter": "bid.flights"})

    assert await public.report_use(usage, entry=now, **given) is None
    assert await public.report_use(usage, entry=unknown, **given) == "billing-meter-unknown"


@pytest.mark.rule("BIL-21")
async def test_a_batch_over_both_thresholds_tells_each_once(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    """79 of 100, then 25 in one batch: 80 % and 100 % once each; a replay tells nothing."""
    await report(api, reporter, *(record(host, f"k{n}") for n in range(79)))
    batch = [record(host, f"m{n}") for n in range(25)]

    quiet = await held.told(host, owner.organization_id, "UsageLimitReached")
    await report(api, reporter, *batch)
    told = await held.told(host, owner.organization_id, "UsageLimitReached")
    replay = await report(api, reporter, *batch)
    later = await held.told(host, owner.organization_id, "UsageLimitReached")

    percents = [one["thresholdPct"] for one in told]
    print(f"79 + 25: thresholds={percents} replay={len(later) - len(told)} used={told[-1]['used']}")
    assert (quiet, percents) == ([], [80, 100])
    assert (told[0]["meter"], told[0]["limit"], told[0]["mode"]) == (RUNS, 100, "hard")
    assert (replay["duplicate"], len(later)) == (25, 2)
    assert await total(host, owner) == 104


async def test_planted_threshold_check_at_the_end_only_is_found():
    moved = totals.Moved(RUNS, STANDING, 79, 104)
    plan = entitlement_types.Metered(RUNS, 100)

    crossed = threshold_events.crossed_thresholds(moved, plan, (80, 100))
    assert [one.percent for one in crossed] == [80, 100]
    stays = totals.Moved(RUNS, STANDING, 100, 104)
    assert threshold_events.crossed_thresholds(stays, plan, (80, 100)) == []


@pytest.mark.rule("BIL-21")
async def test_reaching_a_hard_limit_updates_the_entitlement_set(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    organization_id = owner.organization_id
    await report(api, reporter, record(host, "all", 100))
    reached = (await held.told(host, organization_id, "EntitlementChanged"))[1:]
    refused = await api.get(f"/billing/signal?feature={RUNS}", headers=owner.acting)
    above = await report(api, reporter, record(host, "more", 5))
    await held.subscribed(host, organization_id, "ai-boost", kind="addon")
    left = (await held.told(host, organization_id, "EntitlementChanged"))[2:]

    (change,) = reached[0]["changes"]
    assert (change["feature"], change["after"]["state"], change["after"]["used"]) == (
        RUNS, "exhausted", 100,
    )  # fmt: skip
    assert (refused.json()["entitled"], refused.json()["reason"]) == (False, "limit_reached")
    assert refused.json()["remedy"]["kind"] == "upgrade"
    assert above["accepted"] == 1
    (change,) = left[0]["changes"]
    assert (change["before"]["state"], change["after"]["state"]) == ("exhausted", "granted")
    assert await total(host, owner) == 105


@pytest.mark.rule("BIL-24")
async def test_a_gauge_counts_what_is_open_by_its_subject(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    def space(key: str, subject: str, operation: str, second: int) -> dict[str, Any]:
        return record(
            host,
            key,
            meter=SPACES,
            at=host.now() - timedelta(minutes=5) + timedelta(seconds=second),
            operation=operation,
            subject={"domain": "bid", "type": "workspace", "id": subject},
        )

    batches = [
        [space("1", "a", "hold", 1), space("2", "b", "hold", 2), space("3", "a", "hold", 3)],
        [space("4", "z", "release", 4), space("5", "a", "release", 5)],
        [space("6", "a", "hold", 0), space("7", "c", "hold", 6), space("8", "d", "hold", 7)],
    ]
    counts = []
    for batch in batches:
        await report(api, reporter, *batch)
        counts.append(await total(host, owner, SPACES))

    assert counts == [2, 1, 3]
    full = await api.get(f"/billing/signal?feature={SPACES}", headers=owner.acting)
    assert (full.json()["reason"], full.json()["limit"]) == ("limit_reached", 3)


@pytest.mark.rule("BIL-24")
async def test_newest_seat_count_from_identity_wins(
    host: Host, owner: people.Member, settle: Settle
):
    await people.member(host, owner.organization_id, role="viewer")
    await people.member(host, owner.organization_id, role="viewer")

    async def counted() -> bool:
        return await total(host, owner, SEATS) == 3

    await settle(counted)
    work = billing.working(host, owner.organization_id)
    await recording.record_gauge(work, SEATS, 99, counted_at=work.now - timedelta(hours=1))
    await work.finish()
    assert await total(host, owner, SEATS) == 3


@pytest.mark.rule("BIL-20")
async def test_what_comes_for_a_billed_month_is_late(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    then = host.now() - timedelta(days=20)
    await report(api, reporter, record(host, "in time", 4, at=then))
    work = billing.working(host, owner.organization_id)
    month = periods.usage_month(local_day(host.now()), local_day(then))
    await work.add(
        UsageMonth(
            organization_id=owner.organization_id,
            usage_month=month.start,
            begins_at=month.starts_at,
            ends_at=month.ends_at,
            terms={},
            billed_at=work.now,
        )
    )
    await work.finish()

    said = await report(api, reporter, record(host, "late", at=then), record(host, "now"))
    late = await api.get("/billing/usage-records?late=true", headers=owner.acting)

    assert [one["late"] for one in said["items"]] == [True, False]
    assert [one["key"] for one in late.json()["items"]] == ["late"]


async def test_a_month_is_shown_meter_by_meter(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    await report(api, reporter, record(host, "r", 80), record(host, "s", 60, meter=SMS))
    accounts = await api.get("/billing/accounts", headers=owner.acting)
    (live,) = accounts.json()["items"][0]["subscriptions"]

    month = await api.get(f"/billing/subscriptions/{live['id']}/usage", headers=owner.acting)
    stranger = await people.member(host, uuid4(), role="owner")
    elsewhere = await api.get(f"/billing/subscriptions/{live['id']}/usage", headers=stranger.acting)

    uses = {one["meter"]: one for one in month.json()["meters"]}
    shown = ("used", "limit", "remaining", "percent", "state")
    assert [uses[RUNS][name] for name in shown] == [80, 100, 20, 80, "warning"]
    assert [uses[SMS][name] for name in shown] == [60, 50, 0, 120, "exceeded"]
    assert uses[SMS]["overage"] == {"amount": "6.00", "currency": "ZAR"}
    assert elsewhere.status_code == 404


@pytest.mark.rule("BIL-6")
async def test_an_add_on_shows_the_month_of_the_plan(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, reporter: dict[str, str]
):
    await report(api, reporter, record(host, "r", 80))
    earlier = local_day(host.now()) - timedelta(days=10)
    boost = await held.subscribed(
        host, owner.organization_id, "ai-boost", kind=PlanKind.ADDON, anchor=earlier
    )

    month = await api.get(f"/billing/subscriptions/{boost.id}/usage", headers=owner.acting)

    uses = {one["meter"]: one for one in month.json()["meters"]}
    assert month.json()["monthStart"] == str(local_day(host.now()))
    assert (uses[RUNS]["used"], uses[RUNS]["limit"]) == (80, 300)


@pytest.mark.rule("BIL-19")
async def test_the_port_takes_what_a_domain_meters(host: Host, owner: people.Member):
    port = through_json(public.Usage, LocalUsage(host))
    entries = [held.entry(key=f"run-{n}", at=host.now()) for n in range(5)]

    first = await port.record(organization_id=owner.organization_id, records=entries)
    again = await port.record(organization_id=owner.organization_id, records=entries)

    assert (first.accepted, again.duplicate) == (5, 5)
    assert await total(host, owner) == 5


async def test_only_reporters_report(api: httpx2.AsyncClient, host: Host, owner: people.Member):
    body = {"records": [record(host, "x")]}

    answer = await api.post("/billing/usage", json=body, headers=owner.acting)

    assert answer.status_code == 403


async def test_totals_are_what_the_records_say(host: Host, owner: people.Member):
    at: datetime = host.now()
    await held.used(
        host,
        owner.organization_id,
        [held.entry(key=f"{n}", quantity=n + 1, at=at) for n in range(9)],
    )

    work = billing.working(host, owner.organization_id)
    found = await work.find(UsageTotal, meter=RUNS)
    await work.close()
    assert found is not None
    assert found.quantity == 45


async def raced(host: Host, owner: people.Member) -> list[str]:
    """What a batch hears whose keys another one is just writing: it waits for the other's end."""
    at, first = host.now(), billing.working(host, owner.organization_id)
    await recording.record_usage(first, [recording.UsageEntry(RUNS, key, 1, at) for key in "ab"])
    second = billing.working(host, owner.organization_id)
    said = [("a", 1), ("b", 2), ("c", 1)]
    batch = [recording.UsageEntry(RUNS, key, quantity, at) for key, quantity in said]
    waiting = asyncio.create_task(recording.record_usage(second, batch))
    await billing.until_blocked_by(host, first)
    await first.finish()
    made = await waiting
    await second.finish()
    return [one.code or one.outcome for one in made.items]


RACED = ["duplicate", "billing-key-conflict", "accepted"]


@pytest.mark.rule("BIL-19")
async def test_two_batches_at_once_count_a_use_once(host: Host, owner: people.Member):
    said = await raced(host, owner)

    print(f"raced={said} total={await total(host, owner)}")
    assert said == RACED
    assert await total(host, owner) == 3


async def test_planted_batch_trusting_its_first_read_is_found(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    """What was there before the statement began is not all that is there when it ends."""

    async def believes(_: Any, rows: Any, outcomes: Any) -> None:
        outcomes.update({row.place: recording._ACCEPTED for row in rows})

    plant(monkeypatch, recording, "_judge", believes)

    assert await raced(host, owner) != RACED


async def statements(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch, key: str
) -> list[str]:
    """What a batch asks of the database after it has locked the totals of its organization."""
    asked: list[str] = []
    for name in ("fetch", "fetchrow", "fetchval", "execute"):
        monkeypatch.setattr(asyncpg.Connection, name, noting(asked, name))
    at = host.now()
    again = [held.entry(key="again", at=at), held.entry(SMS, f"again {key}", at=at)]
    new = [held.entry(SMS, key, 100, at=at), held.entry(SMS, f"again {key}", at=at)]
    await held.used(host, owner.organization_id, [*again, *new])
    monkeypatch.undo()
    return asked[asked.index(recording._RECORD) + 1 :]


def noting(asked: list[str], name: str) -> Any:
    real, here = getattr(asyncpg.Connection, name), asyncio.current_task()

    async def noted(self: Any, text: str, *arguments: Any, **more: Any) -> Any:
        if asyncio.current_task() is here:  # statistics are written beside
            asked.append(text)
        return await real(self, text, *arguments, **more)

    return noted


@pytest.mark.rule("BIL-19")
async def test_nothing_is_asked_while_others_wait_for_the_totals(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    """Repeats, and usage above a soft limit; the batch that crosses a threshold tells it."""
    at = host.now()
    over = [held.entry(key="again", at=at), held.entry(SMS, "over", 60, at=at)]
    await held.used(host, owner.organization_id, over)

    after = await statements(host, owner, monkeypatch, "next")

    print(f"statements_between_totals_and_commit={len(after) - 1}")
    assert after == ["COMMIT"]


async def test_planted_late_policy_read_is_found(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    await held.used(host, owner.organization_id, [held.entry(SMS, "over", 60, at=host.now())])
    look = limit_watch.publish_crossings

    async def late(work: Any, moves: Any, by: limit_watch.Watch) -> None:
        await look(work, moves, await limit_watch.watch(work, by.held))

    with pytest.MonkeyPatch.context() as planted:
        plant(planted, limit_watch, "publish_crossings", late)
        after = await statements(host, owner, monkeypatch, "next")

    assert len(after) > 1
