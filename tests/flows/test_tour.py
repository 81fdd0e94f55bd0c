"""The tours of docs/, run as they stand: match, first hour, bid, operators and partner."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.administration import KEY
from tests.flows.touring import ROOT, SMTP, Stage, failures, script, staged, statuses
from tests.suites.flows import until
from thenga import topology
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import made_at

pytestmark = pytest.mark.domains(
    "identity",
    "organization",
    "administration",
    "opportunity",
    "bid",
    "contract",
    "billing",
    "supplier",
    "marketplace",
)

SAID = (
    "outcome mfa_required",
    "code mfa-required",
    "code session-revoked",
    "machines: 1\n",
    "invalid-transition: from in_use, allowed ",
    "organization-identifier-invalid: prefix",
    "said by: customer_supplied",
    "permission_missing, ask for: ['owner', 'administrator'",
    "code key-rotated",
    "intact: True",
    "in the inbox: Yard closed",
    "mails are off",
    "in_app delivered None",
    "email not_sent topic_off",
    "tender PWRT 17/2026: Repair of a gravel road at Mphephu, closing 09:00:00Z",
    "in the inbox: A tender for you",
    "today: ready_with_warnings, blockers: [], letter: met",
    "at closing: not_ready, blockers: ['coida_good_standing'], letter: expired",
    "code same-person",
    "renewed: ready_with_warnings, blockers: [], letter: provisional",
    "verified: ready_with_warnings, blockers: [], letter: met",
)
SAID_OF_THE_BID = (
    "qualification: qualified",
    "coverage: 100.0",
    "total 966000.00, margin 23.10, need 452200.00",
    "form: signed",
    "price: approved",
    "pack: sealed",
    "pack: submitted",
    "board: submitted",
    "award: 966000.00",
    "contract: active",
    "milestone: met",
    "invoice SBX-INV-0001: 966000.00, VAT 126000.00",
    "due in 30 days",
    "invoice: settled, outstanding 0.00",
    "contract: closed",
)
# Events that must have the correlation ID of the first request of a leg.
LEGS = {
    "qualified": {"opportunity.QualificationCompleted.v1"},
    "bid": {"bid.BidWorkspaceOpened.v1", "opportunity.SavedOpportunityMoved.v1"},
    "submitted": {"bid.BidSubmitted.v1", "opportunity.SavedOpportunityMoved.v1"},
    "won": {
        "bid.BidAwarded.v1",
        "opportunity.SavedOpportunityMoved.v1",
        "contract.AwardRecorded.v1",
        "contract.InvoiceRecorded.v1",
        "contract.PaymentRecorded.v1",
        "contract.ContractClosed.v1",
    },
}
SAID_OF_THE_MATCH = (
    "Construction of a low-level bridge and approaches at Ulundi: 2CE",
    "eligible: True",
    "subject: Your closest code has 8 digits in common.",
    "unknown: Required: 2CE. You hold: 3CE.",
    "watching: Bridges",
)
SAID_BY_OPERATORS = (
    "Roles without a holder who has a second factor: platform_operator, platform_support",
    "so only staff invite staff",
    "invited at the console: platform_",
    "based on version 0",
    "status pending_approval",
    "code same-person",
    "status approved, active",
    "administration: applied",
)

SAID_OF_THE_PARTNER = (
    "grading: verified",
    "candidate 89.5 met",
    "candidate 44.5 unknown",
    "first: Mokoena Civils",
    "QR-0001: sent, asked 3",
    "asked by Ndlovu Builders (Pty) Ltd: Access road of 1.2 km, invited",
)


@pytest.fixture(scope="module")
def stage(
    settings: Settings, seeded: None, scanner: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("tour")) as made:
        yield made


async def test_a_newcomer_wins_delivers_and_is_paid(stage: Stage, host: Host) -> None:
    done = stage.run(script("docs/tour.md", "docs/tour-bid.md"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert [text for text in SAID + SAID_OF_THE_BID if text not in done.stdout] == []
    legs = dict(re.findall(r"^leg (\w+) correlation (\S+)$", done.stdout, re.MULTILINE))
    assert legs.keys() == LEGS.keys()
    for leg, wanted in LEGS.items():
        # The last of them are reactions, which a tour does not wait for.
        await until(lambda leg=leg, wanted=wanted: has_types(host, legs[leg], wanted))
        types = await types_with(host, legs[leg])
        print(f"leg={leg} correlation={legs[leg]} events={len(types)}")
    assert await failed_jobs(stage, host) == []
    print(f"tour steps={len(statuses(done.stdout))} legs={len(legs)} ok")


async def failed_jobs(stage: Stage, host: Host) -> list[dict[str, Any]]:
    """What the worker failed at for the organizations of this tour, once no job of theirs waits
    to be repeated."""

    async def is_done() -> bool:
        return bool(await of_tour()) or not await repeated(host, stage.began)

    async def of_tour() -> list[dict[str, Any]]:
        found = failures(stage.worker_log.read_text())
        return [entry for entry in found if await is_of(entry, host, stage.began)]

    await until(is_done, seconds=400)
    return await of_tour()


async def is_of(entry: dict[str, Any], host: Host, began: datetime) -> bool:
    """Whether a line is about an organization, or a row, that was made since then."""
    if "job" not in entry:
        named = {key: value for key, value in entry.items() if key.endswith("_id")}
        ids = [UUID(value) for key, value in named.items() if key != "request_id"]
        return any(is_new(each, began) for each in ids)
    domain = entry["task"].partition(".")[0]
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        named = await connection.fetchval(
            f"SELECT args ->> 'organization_id' FROM {domain}.procrastinate_jobs WHERE id = $1",
            entry["job"],
        )
    return named is not None and is_new(UUID(named), began)


def is_new(made: UUID, began: datetime) -> bool:
    """Whether an ID was made since then. Other tests name organizations by random ones."""
    return made.version == 7 and began <= made_at(made)


async def repeated(host: Host, began: datetime) -> int:
    """How many jobs of organizations made since then failed before and are not done."""
    count = 0
    for domain in topology.DOMAINS:
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            rows = await connection.fetch(
                f"SELECT args ->> 'organization_id' FROM {domain}.procrastinate_jobs "
                "WHERE attempts > 0 AND status IN ('todo', 'doing')"
            )
        named = [UUID(row[0]) for row in rows if row[0] is not None]
        count += sum(is_new(each, began) for each in named)
    return count


RETRIED = '{"event": "jobs.job.retried", "task": "contract.meter_workspace", "job": 7}'
NOT_YET = RETRIED.replace("}", ', "error": "in report_use\\nDependencyUnavailable: A service"}')


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ([RETRIED, RETRIED.replace("7", "8"), '{"event": "jobs.worker.started"}', "plain"], 0),
        ([RETRIED, RETRIED], 0),
        ([RETRIED, RETRIED, RETRIED], 1),
        ([NOT_YET, NOT_YET, NOT_YET, NOT_YET], 0),
        ([RETRIED, NOT_YET, RETRIED, RETRIED], 1),
        (['{"event": "jobs.job.failed", "task": "compliance.load_tenders"}'], 1),
        (['{"event": "contract.usage.rejected"}'], 1),
    ],
)
def test_failed_jobs_are_found_in_a_log(lines: list[str], count: int) -> None:
    assert len(failures("\n".join(lines))) == count


async def has_types(host: Host, correlation: str, wanted: set[str]) -> bool:
    return wanted <= await types_with(host, correlation)


async def types_with(host: Host, correlation: str) -> set[str]:
    """The types of all events with this correlation ID."""
    found = set()
    for domain in topology.DOMAINS:
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            rows = await connection.fetch(
                f"SELECT envelope::jsonb ->> 'type' FROM {domain}.outbox "
                "WHERE envelope::jsonb ->> 'correlationid' = $1",
                correlation,
            )
        found |= {row[0] for row in rows}
    return found


def test_a_tour_that_lets_a_rotated_key_in_is_found_out(stage: Stage) -> None:
    wrong = script("docs/tour.md").replace(
        'ask 401 GET "/organizations/', 'ask 200 GET "/organizations/'
    )

    done = stage.run(wrong)

    assert done.returncode != 0
    assert "key-rotated" in done.stdout


@pytest.fixture
async def new_installation(host: Host) -> AsyncIterator[None]:
    """No staff and no changed setting; what the tour changes is forgotten afterwards."""
    await people.vacate_roles(host)
    await made.clear(host, "configuration_version", "key", KEY)
    yield
    await made.forget_setting(host, "administration", KEY)


def of_operators() -> str:
    """The functions of the first hour, and the page."""
    first, *_ = script("docs/tour.md").split("now=$(date")
    return first + script("docs/tour-operators.md")


@pytest.mark.rule("ADM-5")
@pytest.mark.rule("IDN-53")
@pytest.mark.usefixtures("new_installation")
async def test_staff_join_and_a_builder_finds_a_partner_with_proof(
    stage: Stage, host: Host
) -> None:
    done = stage.run(script("docs/tour.md", "docs/tour-operators.md", "docs/tour-partner.md"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    said = SAID_BY_OPERATORS + SAID_OF_THE_PARTNER
    assert [text for text in said if text not in done.stdout] == []
    assert await failed_jobs(stage, host) == []
    print("operators=2 own_approval=403 applied=1 partner=1 asked=3")


@pytest.mark.usefixtures("new_installation")
def test_a_tour_that_lets_its_author_approve_is_found_out(stage: Stage) -> None:
    wrong = of_operators().replace("ask 403 POST", "ask 200 POST")

    done = stage.run(wrong)

    assert done.returncode != 0
    assert "same-person" in done.stdout


async def test_a_newcomer_reads_why_a_sample_tender_fits(stage: Stage, host: Host) -> None:
    loads = await asyncio.gather(asyncio.to_thread(load_sample), asyncio.to_thread(load_sample))

    done = stage.run(script("docs/tour-match.md"))

    assert loads == [(0, "240 sample tenders can be searched\n", "")] * 2
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert [text for text in SAID_OF_THE_MATCH if text not in done.stdout] == []
    assert await failed_jobs(stage, host) == []
    print(f"match steps={len(statuses(done.stdout))} ok")


def load_sample() -> tuple[int, str, str]:
    """`thenga dev sample`, also while another one is being applied."""
    command = [sys.executable, "-m", "thenga", "dev", "sample"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # The switches of the gate are no settings.
    said = [line for line in done.stderr.splitlines() if not line.startswith("warning: THENGA_")]
    return done.returncode, done.stdout, "".join(said)


def test_the_readme_starts_what_the_tours_read() -> None:
    readme = (ROOT / "README.md").read_text()

    assert f".venv/bin/python {SMTP} > .dev/letters" in readme
    assert ".venv/bin/thenga dev sample" in readme
    pages = sorted((ROOT / "docs").glob("tour*.md"))
    assert [page.name for page in pages if f"docs/{page.name}" not in readme] == []
    assert all(".dev/letters" in script(f"docs/{name}") for name in ("tour.md", "tour-match.md"))


def test_a_tour_stops_at_its_first_failure(stage: Stage) -> None:
    wrong = script("docs/tour-match.md").replace(
        "ask 202 POST /identity/auth/register", "ask 201 GET /identity/me"
    )

    done = stage.run(wrong)

    assert done.returncode != 0
    assert statuses(done.stdout) == ["401"]
