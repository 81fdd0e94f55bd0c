"""Settings are declared with a key, a type and a default, or the process does not start."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.probe import DOMAIN
from thenga.kernel.declare import law
from thenga.kernel.declare.setting import Setting


def _setting(key: str = "probe.a", kind: Any = int, default: Any = 1) -> Setting[Any]:
    return Setting(key, kind, default, "A number")


@pytest.mark.rule("ADM-7")
@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (lambda: _setting("probe"), "needs a key like"),
        (lambda: _setting("probe.mailPassword"), "named like a secret"),
        (lambda: _setting(kind=Any), "checks nothing"),
        (lambda: _setting(default="none"), "valid integer"),
        (lambda: replace(DOMAIN, settings=(_setting("bid.a"),)), "cannot declare"),
        (lambda: replace(DOMAIN, settings=(_setting(), _setting())), "a setting twice"),
        (lambda: replace(DOMAIN, events=()), "no event PolicyAcknowledged"),
    ],
)
def test_a_wrong_declaration_stops_the_start(declare: Callable[[], Any], told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        declare()


def test_a_default_follows_the_days_of_the_law() -> None:
    before, after = datetime(2026, 3, 31, 21, 59, 59, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)

    assert law.VAT_COMPULSORY.built_in(before).value == 1_000_000
    assert law.VAT_COMPULSORY.built_in(after).value == 2_300_000
