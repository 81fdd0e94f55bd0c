"""What an organization holds: followed from its sources, right before any sweep, told once."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests import patience
from tests.conftest import Time
from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS, SEATS
from tests.planting import plant
from tests.through_json import through_json
from thenga import topology
from thenga.domains.billing import public
from thenga.domains.billing.provider import LocalEntitlements
from thenga.domains.billing.services.accounts import accounts
from thenga.domains.billing.services.entitlements import current, merging, sources
from thenga.domains.billing.services.plan_admin import catalogue_seed
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.tables import (
    ChangeStatus,
    Interval,
    PendingChange,
    PlanKind,
    SubscriptionStatus,
)
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Granted
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await billing.account(host, who.organization_id)
    return who


async def signal(
    api: httpx2.AsyncClient, who: people.Member, feature: str, quantity: int = 1
) -> dict[str, Any]:
    asked = {"feature": feature, "quantity": quantity}
    answer = await api.get("/billing/signal", params=asked, headers=who.acting)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.rule("BIL-3")
async def test_a_trial_gives_the_whole_plan_and_is_told(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    before = await api.get("/billing/entitlements", headers=owner.acting)
    trial = (await api.post("/billing/trials", json={}, headers=owner.acting)).json()
    whole = await api.get("/billing/entitlements", headers=owner.acting)
    own = await api.get(
        f"/billing/subscriptions/{trial['subscriptionId']}/entitlements", headers=owner.acting
    )
    again = await api.get(
        "/billing/entitlements", headers=owner.acting | {"If-None-Match": whole.headers["ETag"]}
    )

    def seats(answer: httpx2.Response) -> tuple[int, list[str]]:
        (one,) = [item for item in answer.json()["items"] if item["feature"] == SEATS]
        return one["limit"], one["source"]

    (told,) = await held.told(host, owner.organization_id, "EntitlementChanged")
    changed = {one["feature"]: one["after"] for one in told["changes"]}
    assert (seats(before), seats(whole)) == ((1, ["fallback"]), (10, ["trial"]))
    assert (whole.headers["ETag"][:3], again.status_code) == ('"1-', 304)
    assert (own.json()["access"], len(own.json()["items"])) == ("full", 24)
    assert (told["setVersion"], told["access"]) == (1, "full")
    assert changed[SEATS]["limit"] == 10
    assert changed[RUNS]["mode"] == "soft"


@pytest.mark.rule("BIL-45")
async def test_fallback_answers_as_soon_as_a_trial_ends(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, clock: Time
):
    clock.set(datetime(2026, 11, 14, 8, tzinfo=UTC))
    person = await people.member(host, owner.organization_id, role="owner")
    trial = (await api.post("/billing/trials", json={}, headers=person.acting)).json()
    ends = datetime(2026, 11, 28, 22, tzinfo=UTC)
    port = LocalEntitlements(host)

    async def limit(at: datetime) -> tuple[int | None, str]:
        clock.set(at)
        said = await port.signal(organization_id=owner.organization_id, feature=SEATS)
        return said.limit, said.reason

    before, after = await limit(ends - timedelta(seconds=1)), await limit(ends)
    briefings = await port.signal(
        organization_id=owner.organization_id, feature="analytics.briefings"
    )

    print(f"endsAt={trial['endsAt']} before={before[0]} after={after[0]} sweeps=0")
    assert trial["endsAt"] == "2026-11-28T22:00:00Z"
    assert (before, after) == ((10, "included"), (1, "included"))
    assert briefings.reason == "trial_ended"


@pytest.mark.rule("BIL-45")
async def test_the_sweep_writes_down_and_tells_what_time_has_made(host: Host, owner: people.Member):
    made = await billing.trial(host, owner.organization_id)
    work = billing.working(host, owner.organization_id)
    await current.refresh(work, reason="test")
    await work.finish()

    later = billing.working(host, owner.organization_id, ahead=timedelta(days=15))
    await current.refresh(later, reason="time_passed")
    await later.finish()
    again = billing.working(host, owner.organization_id, ahead=timedelta(days=15))
    await current.refresh(again, reason="time_passed")
    await again.finish()

    told = await held.told(host, owner.organization_id, "EntitlementChanged")
    assert made.ends_at < later.now
    assert [one["setVersion"] for one in told] == [1, 2]
    (seats,) = [one for one in told[1]["changes"] if one["feature"] == SEATS]
    assert (seats["before"]["limit"], seats["after"]["limit"]) == (10, 1)
    assert seats["reason"] == "time_passed"


async def test_a_planted_set_that_never_ends_would_be_found(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    real = sources._contributions_of

    async def endless(*asked: Any, **more: Any) -> Any:
        return [
            merging.Contribution(one.source, one.entitlements, None, None)
            for one in await real(*asked, **more)
        ]

    plant(monkeypatch, sources, "_contributions_of", endless)
    await billing.trial(host, owner.organization_id)
    work = billing.working(host, owner.organization_id, ahead=timedelta(days=15))
    said = await current.signal(work, SEATS)
    await work.close()

    assert said.limit == 10


@pytest.mark.rule("BIL-46")
async def test_refusal_names_plan_and_price_of_a_change_today(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, clock: Time
):
    """Starter 499.00 for 14 Nov to 14 Dec, on 24 Nov: professional for the rest is 666.66."""
    clock.set(datetime(2026, 11, 24, 8, tzinfo=UTC))
    person = await people.member(host, owner.organization_id, role="owner")
    plan = await held.subscribed(host, owner.organization_id, anchor=date(2026, 11, 14))
    await held.paid(host, plan, "499.00", Period(date(2026, 11, 14), date(2026, 12, 14)))

    said = await signal(api, person, "analytics.briefings")

    helps = said["remedy"]
    print(f"402 remedy={helps['planCode']} amountToday={helps['amountToday']['amount']}")
    assert (said["entitled"], said["reason"]) == (False, "not_in_plan")
    assert (helps["kind"], helps["planCode"]) == ("upgrade", "professional")
    assert helps["amountToday"] == {"amount": "666.66", "currency": "ZAR"}


@pytest.mark.rule("BIL-46")
async def test_whoever_pays_nothing_pays_the_whole_price(
    api: httpx2.AsyncClient, owner: people.Member
):
    said = await signal(api, owner, "identity.api_access")

    assert said["remedy"]["planCode"] == "starter"
    assert said["remedy"]["amountToday"] == {"amount": "499.00", "currency": "ZAR"}


@pytest.mark.rule("BIL-4")
async def test_no_account_or_unknown_feature_is_not_entitled(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    nobody = await people.member(host, uuid4(), role="owner")

    answers = [
        await signal(api, nobody, SEATS),
        await signal(api, owner, "bid.flights"),
        await signal(api, owner, SEATS, 2),
    ]
    missing = await api.get("/billing/entitlements", headers=nobody.acting)

    reasons = [(one["entitled"], one["reason"]) for one in answers]
    assert reasons == [
        (False, "no_subscription"), (False, "unknown_feature"), (False, "limit_reached"),
    ]  # fmt: skip
    assert missing.status_code == 404


async def test_staff_name_the_organization_or_find_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    staff = await people.staff(host, "platform_operator")
    at = host.now().isoformat().replace("+00:00", "Z")
    body = {"records": [{"meter": RUNS, "key": "x", "quantity": 1, "occurredAt": at}]}
    paths = ("/billing/entitlements", f"/billing/signal?feature={SEATS}")
    named = f"organizationId={owner.organization_id}"

    unnamed = [(await api.get(path, headers=staff.headers)).status_code for path in paths]
    reported = await api.post("/billing/usage", json=body, headers=staff.headers)
    found = await api.get(f"{paths[0]}?{named}", headers=staff.headers)
    others = await api.get(f"{paths[0]}?organizationId={uuid4()}", headers=owner.acting)

    assert (unnamed, reported.status_code) == ([404, 404], 404)
    assert (found.status_code, others.status_code) == (200, 404)


async def test_a_scheduled_change_counts_from_its_midnight_on(host: Host, owner: people.Member):
    today = local_day(host.now())
    turns = today + timedelta(days=20)
    change = PendingChange(
        change_id=uuid4(),
        plan_code="starter",
        plan_version=1,
        interval=Interval.MONTH,
        effective="period_end",
        effective_on=turns,
        status=ChangeStatus.SCHEDULED,
        credit_minor=0,
        amount_due_minor=0,
        currency="ZAR",
        credited_line_id=None,
        restarts_periods=False,
    )
    await held.subscribed(
        host, owner.organization_id, "professional", pending_change=change.to_row()
    )
    ahead = local_midnight(turns) - host.now()

    async def seats(offset: timedelta) -> int | None:
        work = billing.working(host, owner.organization_id, ahead=offset)
        said = await current.signal(work, SEATS)
        await work.close()
        return said.limit

    assert await seats(ahead - timedelta(minutes=1)) == 10
    assert await seats(ahead + timedelta(minutes=1)) == 3


@pytest.mark.rule("BIL-41")
async def test_an_add_on_adds_and_the_standing_of_the_base_decides(
    host: Host, owner: people.Member
):
    organization_id = owner.organization_id
    await held.subscribed(host, organization_id, "starter")
    boost = await held.subscribed(host, organization_id, "ai-boost", kind=PlanKind.ADDON)

    work = billing.working(host, organization_id)
    runs = await current.signal(work, RUNS)
    await work.close()

    assert boost.status is SubscriptionStatus.ACTIVE
    assert (runs.limit, runs.access) == (300, "full")


@pytest.mark.rule("BIL-45")
async def test_the_port_answers_the_same_from_near_and_from_far(host: Host, owner: people.Member):
    await held.subscribed(host, owner.organization_id)
    near = LocalEntitlements(host)
    far = through_json(public.Entitlements, near)
    asked = {"organization_id": owner.organization_id}
    features = [SEATS, RUNS, "analytics.briefings", "bid.flights"]

    here = await near.signal_many(**asked, features=features)
    there = [await far.signal(**asked, feature=one) for one in features]

    def timeless(said: public.EntitlementSignal) -> public.EntitlementSignal:
        return said.model_copy(update={"as_of": None})

    assert [timeless(one) for one in here] == [timeless(one) for one in there]
    assert near.port_timeout == 0.3 * patience.TIMES
    assert here[2].remedy == public.Remedy(
        kind="upgrade", plan_code="professional", amount_today=Money.of("1499.00")
    )


@pytest.mark.rule("BIL-4")
def test_every_feature_of_a_permission_is_in_the_catalogue():
    domains = topology.load(topology.DOMAINS)
    planted = Domain(
        name="bid",
        home=domains[0].home,
        permissions=(Granted("bid:flight:create", "Fly", (), feature="bid.flights"),),
    )

    catalogue_seed.check_features(domains)
    with pytest.raises(
        catalogue_seed.FeatureUnknown, match=r"bid:flight:create needs bid\.flights"
    ):
        catalogue_seed.check_features([*domains, planted])


async def test_an_account_that_is_opened_holds_the_fallback(host: Host, app: FastAPI, seeded: None):
    work = billing.working(host, uuid4())
    organization_id = work.organization_id
    await accounts.open_account(work, sandbox=False)
    await work.finish()

    (told,) = await held.told(host, organization_id, "EntitlementChanged")
    assert {one["reason"] for one in told["changes"]} == {"account_opened"}
