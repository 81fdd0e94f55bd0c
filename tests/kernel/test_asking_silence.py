"""`asking`: silence of a port has an answer, a refusal and a defect are raised."""

import asyncio
from abc import abstractmethod
from uuid import uuid4

import pytest

from tests.conftest import Opening
from tests.planting import plant
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import Conflict, DependencyUnavailable
from thenga.kernel.ports import asking as module
from thenga.kernel.ports.asking import asking
from thenga.kernel.ports.binding import Bindings, Unbound


class Weather(Port, name="probe.weather", timeout=0.05):
    """Whether it rains."""

    @abstractmethod
    async def rains(self, *, where: str) -> bool: ...


class Answers(Weather):
    def __init__(self, error: Exception | None = None, seconds: float = 0) -> None:
        self.error, self.seconds = error, seconds

    async def rains(self, *, where: str) -> bool:
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return True


async def asked(opening: Opening, monkeypatch: pytest.MonkeyPatch, by: Weather | None) -> object:
    read, bindings = opening.reader(uuid4()), Bindings()
    if by is not None:
        bindings.bind(Weather, by)
    monkeypatch.setattr(read.host, "bindings", bindings)
    return await asking(read, Weather, lambda port: port.rains(where="Durban"), silent=None)


async def test_an_answer_is_the_answer(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await asked(opening, monkeypatch, Answers()) is True


@pytest.mark.parametrize(
    "silent",
    [None, Answers(seconds=60), Answers(DependencyUnavailable(dependency="probe.weather"))],
    ids=["unbound", "late", "unavailable"],
)
async def test_silence_is_the_answer_that_was_named(
    opening: Opening, monkeypatch: pytest.MonkeyPatch, silent: Weather | None
) -> None:
    assert await asked(opening, monkeypatch, silent) is None


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(), TimeoutError(), Unbound("of the answerer"), Conflict()], ids=repr
)
async def test_a_refusal_or_a_defect_is_raised(
    opening: Opening, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with pytest.raises(type(error)):
        await asked(opening, monkeypatch, Answers(error))


async def test_a_planted_question_that_hides_a_defect_is_found(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, module, "DependencyUnavailable", Exception)

    assert await asked(opening, monkeypatch, Answers(ZeroDivisionError())) is None
