"""Health: an exact score, what it is made of, and what to mend next."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import orjson
import pytest

from tests.domains.organization.offering import tell
from tests.factories import compliance as papers
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.compliance import public as compliance
from thenga.domains.compliance.provider import LocalReadiness
from thenga.domains.organization.services.health import health, health_formula
from thenga.domains.organization.services.health.health_formula import Company, FactState, Thing
from thenga.domains.organization.services.records import health_due
from thenga.domains.organization.tables import (
    Capability,
    CapabilityVerification,
    Director,
    DirectorVerification,
    PastProject,
    PastProjectStatus,
    PastProjectVerification,
)
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host

# The vector of ORG-27: 85, 60, 100, 67.5, 45, 70, 72 and one conflict.
VECTOR = Company(
    facts=tuple(
        FactState(f"f{n}", 1, filled=n < 85, verified=n < 51, conflicted=n == 0) for n in range(100)
    ),
    capabilities=(
        Thing("c1", "verified"),
        Thing("c2", "verified"),
        Thing("c3", "evidence_attached"),
        Thing("c4", "claimed"),
    ),
    projects=(Thing("p1", "verified"), Thing("p2", "unverified"), Thing("p3", "pending")),
    directors=(Thing("d1", "verified"), Thing("d2", "unverified")),
    signatory=True,
    information_officer=True,
    readiness=Fraction(72),
)


def figures(company: Company) -> dict[str, Any]:
    """Must show 15, as figures."""
    first = health_formula.gaps(company)[0]
    mended = replace(
        company, facts=(replace(company.facts[0], conflicted=False), *company.facts[1:])
    )
    silent = replace(company, readiness=None)
    return {
        "score": health_formula.shown(health_formula.exact(company), 1),
        "exact": health_formula.shown(health_formula.exact(company)),
        "band": health_formula.band(health_formula.exact(company)),
        "silent": health_formula.shown(health_formula.exact(silent), 1),
        "gain": health_formula.shown(first.gain),
        "after": health_formula.shown(health_formula.exact(mended), 1),
    }


EXPECTED = {
    "score": "70.8",
    "exact": "70.825",
    "band": "fair",
    "silent": "70.9",
    "gain": "2.0",
    "after": "72.8",
}


@pytest.mark.rule("ORG-27")
def test_the_vector_gives_exactly_its_score():
    found = figures(VECTOR)

    parts = [health_formula.shown(c.value) for c in health_formula.components(VECTOR) if c.value]
    print(" ".join(f"health_{name}={value}" for name, value in found.items()))
    assert parts == ["85.0", "60.0", "100.0", "67.5", "45.0", "70.0", "72.0"]
    assert found == EXPECTED


def test_a_planted_weight_is_found(monkeypatch: pytest.MonkeyPatch):
    plant(monkeypatch, health_formula, "WEIGHTS", health_formula.WEIGHTS | {"people": 11})

    assert figures(VECTOR) != EXPECTED


@pytest.mark.rule("ORG-28")
def test_the_next_best_action_is_the_most_gain_a_minute():
    best = [
        (g.code, health_formula.shown(g.gain), g.minutes) for g in health_formula.gaps(VECTOR)[:3]
    ]

    assert best == [
        ("conflict_open", "2.0", 3),
        ("director_unverified", "3.0", 10),
        ("evidence_missing", "1.125", 5),
    ]


@pytest.mark.rule("ORG-28")
def test_each_gain_is_what_mending_really_brings():
    before = health_formula.exact(VECTOR)
    mended = {(code, one): company for code, _, one, company in health_formula._mendings(VECTOR)}

    wrong = [
        gap
        for gap in health_formula.gaps(VECTOR)
        if health_formula.exact(mended[gap.code, gap.id]) - before != gap.gain
    ]

    assert wrong == []


@pytest.mark.rule("ORG-15")
def test_missing_directors_are_reported_without_points():
    public_company = replace(VECTOR, directors_needed=3)

    codes = [gap.code for gap in health_formula.gaps(public_company)]

    assert "director_missing" in codes
    assert "director_missing" not in [gap.code for gap in health_formula.gaps(VECTOR)]


def test_conflicts_cost_at_most_ten_points():
    many = tuple(replace(fact, conflicted=True) for fact in VECTOR.facts[:8])
    torn = replace(VECTOR, facts=(*many, *VECTOR.facts[8:]))

    assert health_formula.penalty(torn) == 10
    assert health_formula.exact(Company(facts=many[:1])) >= 0
    assert health_formula.exact(replace(Company(), facts=(replace(many[0], filled=False),))) == 0


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.person(host)
    company = await companies.organization(host, who.user_id, mode="sandbox")
    return await people.member(host, company.id, role="owner", who=who, sandbox=True)


async def seen(api: httpx2.AsyncClient, owner: people.Member, query: str = "") -> Any:
    path = f"/organizations/{owner.organization_id}/health{query}"
    answer = await api.get(path, headers=owner.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.rule("ORG-27")
async def test_where_compliance_is_silent_the_score_is_partial(
    api: httpx2.AsyncClient, owner: people.Member
):
    found = await seen(api, owner)

    parts = {part["key"]: part["value"] for part in found["components"]}
    assert (found["partial"], parts["readiness"], parts["freshness"]) == (True, None, "100.0")
    assert found["trend"] == {"d7": None, "d30": None, "d90": None}
    assert found["series"] is None


class Compliance(compliance.Readiness):
    """Compliance that answers a score, or does not answer in time."""

    def __init__(self, score: str | None) -> None:
        self.score = score

    async def on_date(self, **_: Any) -> compliance.ReadinessView:
        if self.score is None:
            raise DependencyUnavailable(dependency="compliance.readiness")
        now = datetime(2031, 6, 30, tzinfo=UTC)
        return compliance.ReadinessView(verdict="ready", score=Decimal(self.score), as_of=now)

    async def for_tenders(self, **_: Any) -> list[compliance.ReadinessView]:
        raise NotImplementedError


@pytest.mark.rule("ORG-27")
@pytest.mark.parametrize(
    ("answering", "heard"), [(Compliance("72.0"), Fraction(72)), (Compliance(None), None)]
)
async def test_readiness_is_unknown_while_compliance_is_silent(
    host: Host,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
    answering: compliance.Readiness,
    heard: Fraction | None,
):
    monkeypatch.setitem(host.bindings._bound, compliance.Readiness, answering)
    work = companies.working(host, owner.user_id, owner.organization_id)

    company = await health.company_of(work, await health.readiness_of(work))
    await work.close()

    assert company.readiness == heard


@pytest.mark.rule("ORG-27")
async def test_a_clock_ahead_in_compliance_stops_no_snapshot(
    host: Host, owner: people.Member, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(host.bindings._bound, compliance.Readiness, LocalReadiness(host))
    await papers.profile(host, owner.organization_id)
    await papers.clock_ahead(host, owner.organization_id, timedelta(days=30))

    await look_again(host, owner)

    assert await kept(host, owner) == 1


async def proven(host: Host, owner: people.Member) -> None:
    """A director, an information officer, a signatory, a project and capabilities, as rows."""
    at = (owner.organization_id, owner.user_id)
    for status in ("verified", "unverified"):
        await companies.record(
            host,
            Director,
            *at,
            surname=status,
            role="director",
            id_type="other",
            verification_status=DirectorVerification(status),
        )
    await companies.contact(host, *at, kind="information_officer")
    signing = {"evidence_ref": None, "valid_from": "2020-01-01", "valid_to": "2190-01-01"}
    await companies.organization_user(host, *at, bid_roles=["signatory"], signing_authority=signing)
    for status in ("verified", "verified", "evidence_attached", "claimed"):
        await companies.record(
            host, Capability, *at, title=status, verification_status=CapabilityVerification(status)
        )
    for status in ("verified", "unverified", "pending"):
        await companies.record(
            host,
            PastProject,
            *at,
            title=status,
            client_name="Emfuleni",
            started_on=date(2024, 3, 1),
            status=PastProjectStatus.PUBLISHED,
            verification_status=PastProjectVerification(status),
        )


@pytest.mark.rule("ORG-27")
async def test_records_make_the_components_of_the_vector(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    await proven(host, owner)

    found = await seen(api, owner)

    parts = {part["key"]: part["value"] for part in found["components"]}
    assert (parts["capabilities"], parts["experience"], parts["people"]) == ("67.5", "45.0", "70.0")


async def look_again(host: Host, owner: people.Member, *, days: int = 0) -> None:
    """What the job does, by a sandbox's clock."""
    work = companies.working(host, owner.user_id, owner.organization_id)
    work.now += timedelta(days=days)
    await health.take_snapshot(work)
    await work.finish()


async def told(host: Host, owner: people.Member) -> list[Any]:
    async with host.engines.connection("organization", "organization_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope FROM organization.outbox WHERE aggregate = $1 ORDER BY position",
            f"health/{owner.organization_id}",
        )
    return [orjson.loads(row["envelope"])["data"]["score"] for row in rows]


@pytest.mark.rule("ORG-27")
async def test_health_is_published_by_the_point_and_kept_daily(
    noon: None, api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    await look_again(host, owner)
    await look_again(host, owner)
    before = await seen(api, owner, "?trendDays=7")
    await proven(host, owner)
    await look_again(host, owner)
    after = await seen(api, owner, "?trendDays=7")

    scores = await told(host, owner)
    print(f"health_told={len(scores)} days_kept={len(after['series'])}")
    assert scores == [before["score"], after["score"]]
    assert [point["score"] for point in before["series"]] == [before["score"]]
    assert [point["score"] for point in after["series"]] == [after["score"]]


@pytest.mark.rule("ORG-27")
async def test_the_trend_is_the_difference_to_the_snapshot_of_that_day(
    noon: None, api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    for days in (-401, -90, -30, -7):
        await look_again(host, owner, days=days)
    past = (await seen(api, owner))["score"]
    await look_again(host, owner)
    await proven(host, owner)

    found = await seen(api, owner, "?trendDays=400")

    moved = str(Decimal(found["score"]) - Decimal(past))
    assert found["trend"] == {"d7": moved, "d30": moved, "d90": moved}
    assert len(found["series"]) == 4


async def due_at(host: Host, owner: people.Member) -> datetime:
    async with host.engines.connection("organization", "organization_system") as connection:
        found: datetime = await connection.fetchval(
            "SELECT next_check_at FROM organization.health WHERE id = $1", owner.organization_id
        )
    return found


@pytest.mark.rule("ORG-27")
async def test_health_is_computed_after_a_minute_and_every_night(
    noon: None, owner: people.Member, host: Host
):
    await look_again(host, owner)
    night = await due_at(host, owner)
    await companies.contact(host, owner.organization_id, owner.user_id)
    soon = await due_at(host, owner)
    await companies.contact(host, owner.organization_id, owner.user_id)

    assert night.astimezone(ZoneInfo("Africa/Johannesburg")).time() == time(0, 30)
    assert soon < night
    assert timedelta(0) < soon - host.now() <= timedelta(seconds=60)
    assert await due_at(host, owner) == soon


async def kept(host: Host, owner: people.Member) -> int:
    async with host.engines.connection("organization", "organization_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM organization.health_snapshot WHERE organization_id = $1",
            owner.organization_id,
        )
    return found


@pytest.mark.rule("ORG-27")
async def test_compliance_event_makes_the_worker_compute_health(
    owner: people.Member, host: Host, settle: Settle
):
    await look_again(host, owner, days=-1)
    night = await due_at(host, owner) + timedelta(days=400)
    await set_due(host, owner, night)
    changed = compliance.ReadinessChanged(organization_id=owner.organization_id, verdict="ready")

    await tell(host, changed, owner.organization_id)
    await settle(lambda: marked(host, owner, night))
    await set_due(host, owner, host.now())
    await settle(lambda: looked(host, owner))


async def set_due(host: Host, owner: people.Member, at: datetime) -> None:
    async with host.engines.connection("organization", "organization_system") as connection:
        await connection.execute(
            "UPDATE organization.health SET next_check_at = $2 WHERE id = $1",
            owner.organization_id,
            at,
        )


async def marked(host: Host, owner: people.Member, night: datetime) -> bool:
    return await due_at(host, owner) < night


async def looked(host: Host, owner: people.Member) -> bool:
    return await kept(host, owner) == 2


@pytest.mark.parametrize(
    ("now", "night"),
    [
        ("2026-11-14T22:29:59Z", "2026-11-14T22:30:00Z"),
        ("2026-11-14T22:30:00Z", "2026-11-15T22:30:00Z"),
        ("2026-11-14T10:00:00Z", "2026-11-14T22:30:00Z"),
    ],
)
def test_the_night_is_half_past_midnight_in_south_africa(now: str, night: str):
    assert health_due.next_night(datetime.fromisoformat(now)) == datetime.fromisoformat(night)


@pytest.mark.rule("ORG-28")
async def test_acting_on_the_next_best_action_brings_the_promised_gain(
    api: httpx2.AsyncClient, owner: people.Member
):
    before = await seen(api, owner)
    missing = next(
        gap for gap in before["gaps"] if str(gap["subject"]["id"]).endswith(":employeeCount")
    )

    await api.patch(
        f"/organizations/{owner.organization_id}/profile",
        json={"employeeCount": 12},
        headers=owner.headers,
    )
    after = await seen(api, owner)

    moved = Decimal(after["scoreExact"]) - Decimal(before["scoreExact"])
    print(f"health_promised={missing['gain']} moved={moved}")
    assert missing["code"] == "fact_missing"
    assert abs(moved - Decimal(missing["gain"])) <= Decimal("0.000001")
