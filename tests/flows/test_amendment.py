"""An amendment moves a closing: all that hung on the old one follows, in three domains."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.factories import notification_deliveries as deliveries
from tests.factories import opportunity_board as board
from tests.factories.compliance_readiness import Prover
from tests.factories.identity import Member
from tests.factories.notification_times import reminder_body
from tests.settling import Settle
from thenga.domains.opportunity.services import amendments, notices
from thenga.domains.opportunity.services.matching import features as f
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

pytestmark = pytest.mark.domains("opportunity", "compliance", "notification")

DOMAINS = ("opportunity", "compliance", "notification")
FEATURES = f.ProfileFeatures(
    codes=(f.HeldCode("72141100", "verified", "capability:1"),),
    keywords=(("road",),),
    provinces=frozenset({"KZN"}),
    projects=(f.Project(("7214",), True, date(2025, 5, 1), "project:1"),),
)
LASTS = timedelta(days=28)  # the tax letter, from today; the tender closes in 23 days
MOVES = timedelta(days=10)
WANTED = (
    "opportunity.QualificationStale.v1",
    "opportunity.RecommendationChanged.v1",
    "compliance.ReadinessChanged.v1",
    "notification.ReminderReanchored.v1",
    "notification.NotificationRequestAccepted.v1",
)
_CAUSE = """
    SELECT envelope::jsonb AS envelope FROM opportunity.outbox
    WHERE mesh_subject LIKE 'thenga.opportunity.TenderOpportunityAmended.%'
        AND envelope::jsonb -> 'data' ->> 'tenderOpportunityId' = $1
"""
_CAUSED = """
    SELECT envelope::jsonb AS envelope FROM {domain}.outbox
    WHERE organization_id = $1 AND envelope::jsonb ->> 'causationid' = $2 ORDER BY position
"""


@dataclass
class Bidder:
    """A company that follows one shared tender, with everything it can hang on it."""

    api: httpx2.AsyncClient
    host: Host
    settle: Settle
    who: Member
    tender: TenderOpportunity

    @property
    def path(self) -> str:
        return f"/opportunities/{self.tender.id}"

    async def call(self, method: str, path: str, wanted: int = 200, **more: Any) -> Any:
        headers = self.who.acting | more.pop("headers", {})
        answer = await self.api.request(method, path, headers=headers, **more)
        assert answer.status_code == wanted, answer.text
        return answer.json()

    async def readiness(self) -> Any:
        """Readiness for the closing, once it was computed; none before Compliance tracks it."""
        answer = await self.api.get(
            f"/compliance/readiness/{self.who.organization_id}",
            params={"tenderOpportunityId": str(self.tender.id)},
            headers=self.who.acting,
        )
        if answer.status_code == 200 and not answer.json()["stale"]:
            return answer.json()
        await asyncio.sleep(0.2)  # calls are counted
        return None

    async def judge(self) -> None:
        """Complete a qualification and accept the recommendation that follows from it."""
        path = f"{self.path}/qualification"
        draft = await self.call("POST", path, 201, json={})
        seen = {"If-Match": f'"{draft["version"]}"'}
        await self.call("POST", path, json={"move": "complete"}, headers=seen)
        path = f"{self.path}/recommendation"
        seen = {"If-Match": f'"{(await self.call("GET", path))["version"]}"'}
        await self.call("PATCH", path, json={"choice": "accept"}, headers=seen)

    async def remind(self) -> Any:
        """A reminder that knows the closing at once, because Opportunity is asked for it."""
        reference = {
            "domain": "opportunity",
            "type": "tenderOpportunity",
            "id": str(self.tender.id),
        }
        body = reminder_body(about=reference, anchor={"reference": reference, "kind": "closing"})
        return await self.call("POST", "/notifications/reminders", 201, json=body)

    async def cause(self) -> dict[str, Any]:
        async with self.host.engines.connection("opportunity", "opportunity_system") as link:
            (found,) = await link.fetch(_CAUSE, str(self.tender.id))
        envelope: dict[str, Any] = found["envelope"]
        return envelope

    async def effects(self, cause_id: str) -> dict[str, list[dict[str, Any]]]:
        """What this company was told because of the amendment itself, by domain."""
        found = {}
        for domain in DOMAINS:
            text = _CAUSED.format(domain=domain)
            async with self.host.engines.connection(domain, f"{domain}_system") as link:
                rows = await link.fetch(text, self.who.organization_id, cause_id)
            found[domain] = [row["envelope"] for row in rows]
        return found

    async def rippled(self, cause_id: str) -> dict[str, list[dict[str, Any]]] | None:
        """The effects, once there is one of each."""
        found = await self.effects(cause_id)
        return found if types(found).keys() >= set(WANTED) else None

    async def told_of_readiness(self, of: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """The messages that follow from a readiness that follows from the amendment."""
        fell = [one["id"] for one in of if one["type"] == "compliance.ReadinessChanged.v1"]
        found = [(await self.effects(one))["notification"] for one in fell]
        return [one for each in found for one in each] or None


def types(found: dict[str, list[dict[str, Any]]]) -> Counter[str]:
    return Counter(one["type"] for each in found.values() for one in each)


async def amend(host: Host, tender_id: UUID, by: timedelta) -> None:
    """The source moves the closing."""
    work = board.working(host, OPERATOR)
    held = await notices.keep(work, tender_id)
    assert held.closing_at is not None
    held.closing_at += by
    await amendments.amend(work, held, origin="source_diff")
    await work.finish()


@pytest.fixture
async def bidder(api: httpx2.AsyncClient, host: Host, settle: Settle) -> Bidder:
    company = await board.company(host, FEATURES)
    await deliveries.tenant(host, company, sandbox=True)
    prover = Prover(host, company)
    needs = await prover.build(without="tax_compliance")
    work = prover.work()
    ends = local_day(work.now) + LASTS
    await prover.prove(work, needs["tax_compliance"], "tcs_pin_letter", ends=ends)
    await work.finish()
    who = await board.owner_of(host, company)
    return Bidder(api, host, settle, who, await board.shared_tender(host))


@pytest.mark.settles(*DOMAINS)
@pytest.mark.rule("OPP-45")
@pytest.mark.rule("NOT-39")
async def test_a_moved_closing_ripples_under_one_cause(bidder: Bidder) -> None:
    before = await bidder.settle(bidder.readiness)
    await bidder.judge()
    reminder = await bidder.remind()

    await amend(bidder.host, bidder.tender.id, MOVES)
    cause = await bidder.cause()
    found = await bidder.settle(lambda: bidder.rippled(cause["id"]))
    later = await bidder.settle(lambda: bidder.told_of_readiness(found["compliance"]))

    after = await bidder.settle(bidder.readiness)
    moved = await bidder.call("GET", f"/notifications/reminders/{reminder['id']}")
    (amendment,) = (await bidder.call("GET", f"{bidder.path}/amendments"))["items"]
    found = await bidder.effects(cause["id"])  # by now also what comes twice
    told = types(found)
    doubled = sum(told[name] - 1 for name in WANTED)
    by_domain = " ".join(f"{domain}={len(each)}" for domain, each in found.items())
    entries = sorted(one["effect"] for one in amendment["ripple"]["entries"])
    print(f"effects {by_domain} doubled={doubled} entries={','.join(entries)}")
    assert (before["verdict"], before["blockers"]) == ("ready_with_warnings", [])
    assert (after["verdict"], after["blockers"]) == ("not_ready", ["tax_compliance"])
    assert doubled == 0
    assert {"match_stale", "qualification_stale", "recommendation_proposed"} <= set(entries)
    assert reminder["status"] == "active"
    assert moved["dueAt"] == cause["data"]["closingAt"] != reminder["dueAt"]
    topics = {one["data"]["topicCode"] for one in later if "topicCode" in one["data"]}
    assert topics == {"compliance.readiness_fell"}
    assert max(Counter(one["type"] for one in later).values()) == 1, later
    assert {one["correlationid"] for one in later} == {cause["correlationid"]}
