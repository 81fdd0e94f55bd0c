"""The tours of docs/tour.md and docs/tour-operators.md are run as they stand there."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.administration import KEY
from tests.flows.touring import Stage, script, staged, statuses
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


def test_a_newcomer_can_do_the_whole_hour(stage: Stage) -> None:
    done = stage.run(script("docs/tour.md"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert [text for text in SAID if text not in done.stdout] == []
    print(f"tour steps={len(statuses(done.stdout))} ok")


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

    assert done.returncode == 0, done.stdout + done.stderr
    assert [text for text in SAID_BY_OPERATORS if text not in done.stdout] == []
    print("operators=2 own_approval=403 applied=1")


def test_a_tour_that_lets_its_author_approve_is_found_out(stage: Stage, operators: str) -> None:
    wrong = of_operators().replace("ask 403 POST", "ask 200 POST")

    done = stage.run(operators + wrong)

    assert done.returncode != 0
    assert "same-person" in done.stdout
