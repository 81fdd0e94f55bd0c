"""Asking for a new password tells nobody whether an address has an account (IDN-52)."""

from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, thread_time
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests import statements
from tests.domains.identity.test_sameness import _auc, _bytes
from tests.factories import accounts
from tests.suites.sizes import size
from thenga.domains.identity.services.auth import _links
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

RESETS, PLANTED = size(20, 600), size(5, 60)
PATH = "/identity/auth/password-resets"
# Beside other work the wall clock tells of that work, the time of this thread does not.
_clock = perf_counter if size(0, 1) else thread_time


@dataclass
class Resets:
    """Resets of known and unknown addresses: the answers, the statements sent, and the times."""

    answers: set[Any] = field(default_factory=set)
    sent: dict[bool, set[tuple[str, ...]]] = field(
        default_factory=lambda: {True: set(), False: set()}
    )
    took: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})

    def gap(self) -> float:
        """Seconds between the medians."""
        return abs(median(self.took[True]) - median(self.took[False]))

    def auc(self) -> float:
        return _auc(self.took[True], self.took[False])

    def is_the_same(self) -> bool:
        """Whether neither the statements nor, in full size, the times show who exists."""
        same = self.sent[True] == self.sent[False]
        if size(0, 1):  # beside other work the time tells of that work
            same = same and self.gap() <= 0.002 and 0.4 <= self.auc() <= 0.6
        return same

    def __str__(self) -> str:
        lengths = {exists: [len(texts) for texts in sent] for exists, sent in self.sent.items()}
        return (
            f"samples={len(self.took[True])} answers={len(self.answers)} statements={lengths} "
            f"median_gap_ms={self.gap() * 1000:.2f} auc={self.auc():.2f}"
        )


async def asked(api: httpx2.AsyncClient, host: Host, count: int) -> Resets:
    found = Resets()
    # Three resets an hour is the limit of one address, so each is asked for once.
    known = [(await accounts.account(host)).email for _ in range(count)]
    for number in range(count):
        for exists in (True, False) if number % 2 else (False, True):
            email = known[number] if exists else f"{uuid4().hex}@example.test"
            with statements.counted() as sent:
                began = _clock()
                answer = await api.post(PATH, json={"email": email})
                found.took[exists].append(_clock() - began)
            found.answers.add(_bytes(answer))
            found.sent[exists].add(tuple(sent))
    return found


@pytest.mark.rule("IDN-52")
async def test_a_reset_of_any_address_is_the_same_and_takes_as_long(
    patient: httpx2.AsyncClient, host: Host, seeded: None
):
    found = await asked(patient, host, RESETS)

    print(found)
    assert len(found.answers) == 1
    assert found.is_the_same(), found.sent


async def test_a_planted_short_cut_for_unknown_resets_is_found(
    patient: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    whole = _links.send

    async def hurried(work: Work, key: bytes, *, purpose: str, **named: Any) -> None:
        if purpose != _links.NOBODY:
            await whole(work, key, purpose=purpose, **named)

    monkeypatch.setattr(_links, "send", hurried)

    found = await asked(patient, host, PLANTED)

    print(f"planted: {found}")
    assert not found.is_the_same()
