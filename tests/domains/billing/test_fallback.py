"""The plan that counts without any: a new version of it counts from its day on, for everybody."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Time
from tests.factories import billing
from tests.factories.held import RUNS
from tests.factories.settings import change_setting
from thenga.domains.billing import settings
from thenga.domains.billing.manifest import DOMAIN
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.plan_admin import catalogue_seed
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

# Far from every other test, because the catalogue is one for all.
BEGINS = datetime(2300, 1, 1, tzinfo=UTC)
OPENED = datetime(2300, 2, 1, 8, tzinfo=UTC)
TURNS = datetime(2300, 2, 15, tzinfo=UTC).date()
CODE = f"free-{uuid4().hex[:12]}"


def version(number: int, begins: str, included: int) -> dict[str, Any]:
    return {
        "planCode": CODE,
        "planVersion": number,
        "name": "Free",
        "description": "For nothing.",
        "kind": "base",
        "rank": 0,
        "public": True,
        "trialEligible": False,
        "effectiveFrom": begins,
        "prices": [{"interval": "month", "grossMinor": 0, "currency": "ZAR"}],
        "entitlements": [
            {
                "key": RUNS,
                "type": "metered",
                "included": included,
                "mode": "hard",
                "overageUnitPrice": None,
                "resets": "month",
            }
        ],
    }


async def deploy(host: Host, **lines: list[dict[str, Any]]) -> None:
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "billing", Scope(actor=SYSTEM), origin, login="billing_system")
    none: dict[str, list[Any]] = {"features": [], "plans": [], "sellers": []}
    await catalogue_seed.load(work, none | lines)
    await work.finish()


@pytest.mark.rule("BIL-45")
async def test_new_fallback_version_counts_on_its_first_day(host: Host, seeded: None, clock: Time):
    await deploy(host, plans=[version(1, BEGINS.date().isoformat(), 10)])
    await change_setting(host, DOMAIN, settings.FALLBACK_PLAN, CODE, effective_from=BEGINS)
    clock.set(OPENED)
    before, after = uuid4(), uuid4()
    await billing.account(host, before)
    await billing.followed(host, before)
    await deploy(host, plans=[version(2, TURNS.isoformat(), 25)])
    await billing.account(host, after)
    await billing.followed(host, after)

    async def limits(at: datetime) -> list[int | None]:
        clock.set(at)
        found = []
        for organization_id in (before, after):
            work = billing.working(host, organization_id)
            found.append((await current.signal(work, RUNS)).limit)
            await work.close()
        return found

    assert await limits(local_midnight(TURNS) - timedelta(seconds=1)) == [10, 10]
    assert await limits(local_midnight(TURNS)) == [25, 25]
