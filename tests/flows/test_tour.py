"""The tours of README.md and docs/ (tour.md, tour-bid.md, tour-operators.md), run as they stand."""

import re
import shutil
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.administration import KEY
from tests.flows.touring import ROOT, SMTP, Stage, script, staged, statuses
from thenga import topology
from thenga.kernel.host import Host
from thenga.kernel.settings import Settings

SAID = (
    "outcome mfa_required",
    "code mfa-required",
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
# Beside the waiting for ownership, which answers 404 for as long as it takes.
OF_README = ["202", "200", "201", "200", "201", "201", "200", "200", "409", "200", "401"]
SAID_BY_README = ("invalid-transition: from in_use, allowed ", "session-revoked")
SAID_BY_OPERATORS = (
    "based on version 0",
    "status pending_approval",
    "code same-person",
    "status approved, active",
    "administration: applied",
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
    told = {leg: await types_with(host, number) for leg, number in legs.items()}
    for leg, types in told.items():
        print(f"leg={leg} correlation={legs[leg]} events={len(types)}")
    print(f"tour steps={len(statuses(done.stdout))} legs={len(legs)} ok")
    assert {leg: wanted - told.get(leg, set()) for leg, wanted in LEGS.items()} == {
        leg: set() for leg in LEGS
    }


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
async def operators(host: Host) -> AsyncIterator[str]:
    """The tokens of two operators; what they change is forgotten afterwards."""
    await made.clear(host, "configuration_version", "key", KEY)
    first, second = [await people.staff(host, "platform_operator") for _ in range(2)]
    yield f"FIRST_OPERATOR={first.token} SECOND_OPERATOR={second.token}\n"
    await made.forget_setting(host, "administration", KEY)


def of_operators() -> str:
    """The functions of the first hour, and the page."""
    first, *_ = script("docs/tour.md").split("now=$(date")
    return first + script("docs/tour-operators.md")


@pytest.mark.rule("ADM-5")
def test_two_operators_change_a_setting(stage: Stage, operators: str) -> None:
    done = stage.run(operators + of_operators())

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert [text for text in SAID_BY_OPERATORS if text not in done.stdout] == []
    print("operators=2 own_approval=403 applied=1")


def test_a_tour_that_lets_its_author_approve_is_found_out(stage: Stage, operators: str) -> None:
    wrong = of_operators().replace("ask 403 POST", "ask 200 POST")

    done = stage.run(operators + wrong)

    assert done.returncode != 0
    assert "same-person" in done.stdout


def test_the_readme_starts_the_mail_server_that_its_tour_reads() -> None:
    assert shutil.which("bash") and shutil.which("curl")
    assert f".venv/bin/python {SMTP} > .dev/letters" in (ROOT / "README.md").read_text()
    assert ".dev/letters" in script("README.md")


def test_the_tour_does_what_the_readme_says(stage: Stage) -> None:
    done = stage.run(script("README.md"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert statuses(done.stdout) == OF_README
    assert [text for text in SAID_BY_README if text not in done.stdout] == []
    print(f"readme steps={len(statuses(done.stdout))} ok")


def test_a_tour_that_promises_another_answer_is_found_out(stage: Stage) -> None:
    wrong = script("README.md").replace("ask 409", "ask 200")

    done = stage.run(wrong)

    assert done.returncode != 0
    assert statuses(done.stdout) == OF_README[:-2]
