"""The newcomer's hour of docs/tour.md is run as it stands there, against real processes."""

from collections.abc import Iterator

import pytest

from tests.flows.touring import Stage, script, staged, statuses
from thenga.kernel.settings import Settings

SAID = (
    "outcome mfa_required",
    "code mfa-required",
    "organization-identifier-invalid: prefix",
    "said by: customer_supplied",
    "permission_missing, ask for: ['owner', 'administrator'",
    "code key-rotated",
    "intact: True",
)


@pytest.fixture(scope="module")
def stage(
    settings: Settings, seeded: None, tmp_path_factory: pytest.TempPathFactory
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
