"""What a listing may not say, and how its texts are looked through."""

import re
from re._constants import BRANCH, MAX_REPEAT, MAXREPEAT, SUBPATTERN
from re._parser import parse
from typing import Any

import pytest

from tests.domains.marketplace.stalls import Stall
from tests.factories import marketplace as factory
from thenga.domains.marketplace.services import listings
from thenga.kernel.process.host import Host


@pytest.mark.rule("MKT-8")
@pytest.mark.parametrize(
    "text", ["Call 082 555 0134 now.", "Call +27 (0)11 555 0134.", "Write to sales@pipes.co.za."]
)
async def test_a_listing_names_no_phone_number_or_address(
    mine: Stall, host: Host, text: str
) -> None:
    given = await factory.content(host, summary=text)
    refused = await mine.post(kind="service", content=given)
    assert (refused.status_code, refused.json()["rule"]) == (422, "MKT-8")
    draft = await mine.made(submit=False)
    again = await mine.patch(draft["id"], content=given)
    assert again.json()["rule"] == "MKT-8"


@pytest.mark.rule("MKT-8")
@pytest.mark.parametrize("text", ["<b>Best</b>", "[Look](JavaScript:alert(1))", "<!-- hidden -->"])
async def test_a_listing_has_no_html(mine: Stall, host: Host, text: str) -> None:
    given = await factory.content(host, description=text)
    refused = await mine.post(kind="service", content=given)
    assert (refused.status_code, refused.json()["rule"]) == (422, "MKT-8")


def test_patterns_over_long_texts_are_bounded() -> None:
    """A repeat without a bound tries every start against the rest of 8,000 characters."""
    bounds = {"contact": repeats(listings._CONTACT), "markup": repeats(listings._MARKUP)}
    assert all(most is not MAXREPEAT for found in bounds.values() for most in found)
    assert MAXREPEAT in repeats(re.compile(r"[\w.+-]+@\w"))  # a planted one is found


def repeats(pattern: re.Pattern[str]) -> list[Any]:
    """The bounds of all repeats in a pattern."""
    found, left = [], [parse(pattern.pattern)]
    while left:
        for name, value in left.pop():
            if name is MAX_REPEAT:
                found.append(value[1])
                left.append(value[2])
            elif name is SUBPATTERN:
                left.append(value[3])
            elif name is BRANCH:
                left += value[1]
    return found
