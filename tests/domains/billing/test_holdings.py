"""Gauges: what is open is counted by its subject, in whatever order it is told."""

import asyncio
import itertools
from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.inviting import address, invite
from tests.factories import held
from tests.factories import identity as people
from tests.factories.held import SEATS
from tests.settling import Settle
from thenga.domains.billing import public
from thenga.domains.billing.provider import LocalEntitlements
from thenga.kernel.process.host import Host

SPACES = "bid.workspaces"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, who.organization_id)
    return who


async def total(host: Host, who: people.Member, meter: str) -> int:
    said = await LocalEntitlements(host).signal(organization_id=who.organization_id, feature=meter)
    return said.used or 0


@pytest.mark.rule("BIL-24")
async def test_words_about_a_subject_count_the_same_in_every_order(
    host: Host, owner: people.Member
):
    """Held, released, held again, told twice: open; with a last release: closed."""
    began = host.now() - timedelta(hours=1)
    said = ["hold", "hold", "release", "hold"]
    counts = set()
    for number, order in enumerate(itertools.permutations(range(4))):
        for moment in order:
            subject = {"domain": "bid", "type": "workspace", "id": f"{number}"}
            word = held.entry(
                SPACES,
                f"{number}-{moment}",
                at=began + timedelta(minutes=moment),
                subject=subject,
                operation=said[moment],
            )
            await held.used(host, owner.organization_id, [word])
        counts.add(await total(host, owner, SPACES) - number)

    assert counts == {1}


@pytest.mark.rule("BIL-24")
async def test_a_release_that_comes_before_its_hold_closes_it(host: Host, owner: people.Member):
    at, subject = host.now(), {"domain": "bid", "type": "workspace", "id": "a"}

    def word(operation: str, minutes: int) -> public.UsageEntry:
        then = at - timedelta(minutes=minutes)
        key = f"{operation}-{minutes}"
        return held.entry(SPACES, key, at=then, subject=subject, operation=operation)

    for one in (word("release", 1), word("hold", 2), word("hold", 1)):
        await held.used(host, owner.organization_id, [one])

    assert await total(host, owner, SPACES) == 0


async def test_batches_with_the_same_subjects_do_not_deadlock(host: Host, owner: people.Member):
    at = host.now()

    async def batch(number: int) -> None:
        words = [
            held.entry(
                SPACES,
                f"{number}-{subject}",
                at=at - timedelta(seconds=number * (-1) ** number * subject + 100),
                subject={"domain": "bid", "type": "workspace", "id": f"{subject}"},
                operation="hold",
            )
            for subject in range(10)
        ]
        await held.used(host, owner.organization_id, words)

    await asyncio.gather(*(batch(number) for number in range(8)))

    assert await total(host, owner, SPACES) == 10


@pytest.mark.rule("BIL-24")
async def test_an_open_invitation_has_its_seat(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, settle: Settle
):
    """The owner and two who are invited; who is not any more leaves the seat."""
    invited = [await invite(api, owner, address()) for _ in range(2)]

    async def kept(count: int) -> bool:
        return await total(host, owner, SEATS) == count

    await settle(lambda: kept(3))
    revoke = f"/identity/invitations/{invited[0].json()['id']}/revoke"
    answer = await api.post(revoke, json={}, headers=owner.acting)
    await settle(lambda: kept(2))

    assert answer.status_code == 200
