"""Leading: a lead ends with its session, and a standby asks for all its leads at once."""

import asyncio

import pytest

from tests.kernel.running import until_true
from thenga.kernel.events.leadership import Lead, Seat, lead
from thenga.kernel.process.host import Host


async def test_a_lost_session_ends_the_lead(host: Host):
    seat = Seat(host, "probe")
    ended: list[str] = []

    async def body(held: Lead, stop: asyncio.Event) -> None:
        async with held.session() as session:
            session.terminate()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(ConnectionError):
        await lead(seat, "test lost", body, asyncio.Event())
    assert ended == ["cancelled"]
    [held] = await seat.take("test lost")
    assert held.name == "test lost"
    assert await seat.take("test lost") == []
    await seat.close()


async def _asked_of_standby(host: Host, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a process asks until it has asked twice for each of eight leads of one domain."""
    names = [f"test standby {number}" for number in range(8)]
    leader, standby, stop = Seat(host, "probe"), Seat(host, "probe"), asyncio.Event()
    assert len(await leader.take(*names)) == len(names)
    asked: list[tuple[str, ...]] = []
    take = standby.take

    async def counted(*names: str) -> list[Lead]:
        taken = await take(*names)
        asked.append(names)
        return taken

    monkeypatch.setattr(standby, "take", counted)
    waiting = [asyncio.create_task(standby.wait(name, stop)) for name in names]
    await until_true(lambda: all(sum(name in each for each in asked) >= 2 for name in names))
    found = len(asked)
    await leader.close()
    async with asyncio.timeout(60):
        taken = await asyncio.gather(*waiting)
    assert [lead.name for lead in taken if lead] == names
    await standby.close()
    return found


async def test_a_standby_asks_for_all_leads_in_one_statement(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = await _asked_of_standby(host, monkeypatch)

    print(f"\nstandby leads=8 asked={asked}")
    assert 2 <= asked <= 5


async def test_a_planted_standby_that_asks_for_each_lead_is_found(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def each(seat: Seat, name: str, stop: asyncio.Event) -> Lead | None:
        while not (taken := await seat.take(name)):
            await asyncio.sleep(0.3)
        return taken[0]

    monkeypatch.setattr(Seat, "wait", each)

    assert await _asked_of_standby(host, monkeypatch) > 5
