"""Asking for a new password tells nobody whether an address has an account (IDN-52)."""

from statistics import median
from time import perf_counter, thread_time
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.test_sameness import _auc, _bytes
from tests.factories import accounts
from tests.suites.sizes import size
from thenga.domains.identity.services.auth import _links
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host

RESETS = size(100, 600)
PATH = "/identity/auth/password-resets"
# Beside other work the wall clock tells of that work, the time of this thread does not.
_clock = perf_counter if size(0, 1) else thread_time


async def asked(api: httpx2.AsyncClient, host: Host, count: int) -> tuple[set[Any], float, float]:
    """The different answers, the gap of the medians in seconds, and the AUC."""
    told, took = set(), {True: list[float](), False: list[float]()}
    # Three resets an hour is the limit of one address, so each is asked for once.
    known = [(await accounts.account(host)).email for _ in range(count)]
    for number in range(count):
        for exists in (True, False) if number % 2 else (False, True):
            email = known[number] if exists else f"{uuid4().hex}@example.test"
            began = _clock()
            answer = await api.post(PATH, json={"email": email})
            took[exists].append(_clock() - began)
            told.add(_bytes(answer))
    gap = abs(median(took[True]) - median(took[False]))
    return told, gap, _auc(took[True], took[False])


def is_the_same(gap: float, auc: float) -> bool:
    """Whether time tells nothing; few samples are judged by their order alone."""
    if RESETS < 500:
        return 0.3 <= auc <= 0.7
    return gap <= 0.002 and 0.4 <= auc <= 0.6


@pytest.mark.rule("IDN-52")
async def test_a_reset_of_any_address_is_the_same_and_takes_as_long(
    patient: httpx2.AsyncClient, host: Host, seeded: None
):
    told, gap, auc = await asked(patient, host, RESETS)

    print(f"samples={RESETS} answers={len(told)} median_gap_ms={gap * 1000:.2f} auc={auc:.2f}")
    assert len(told) == 1
    assert is_the_same(gap, auc)


async def test_a_planted_short_cut_for_unknown_resets_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    whole = _links.send

    async def hurried(work: Work, key: bytes, *, purpose: str, **named: Any) -> None:
        if purpose != _links.NOBODY:
            await whole(work, key, purpose=purpose, **named)

    monkeypatch.setattr(_links, "send", hurried)

    _, gap, auc = await asked(patient, host, 60)

    print(f"planted: median_gap_ms={gap * 1000:.2f} auc={auc:.2f}")
    assert not is_the_same(gap, auc)
