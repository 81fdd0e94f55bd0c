"""What a port may look like, who is bound to it, and what a snapshot of it holds."""

from abc import abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from types import new_class
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from thenga.kernel.declare.port import PORTS, Port, idempotent, methods, schema
from thenga.kernel.errors import PROBLEMS, Problem
from thenga.kernel.http.port_routes import routes
from thenga.kernel.ports.binding import Bindings, problem_as_json, restored

SECRET = bytes(range(32))
NOON = datetime(2031, 6, 30, 12, tzinfo=UTC)


class Ledgers(Port, name="probe.ledgers", timeout=0.4):
    @abstractmethod
    async def describe(self, *, ledger_id: UUID, note: str | None = None) -> str: ...

    @idempotent
    @abstractmethod
    async def record(self, *, key: str) -> int: ...


class LocalLedgers(Ledgers):
    async def describe(self, *, ledger_id: UUID, note: str | None = None) -> str:
        return str(ledger_id)

    async def record(self, *, key: str) -> int:
        return len(key)


class Absent(Port, name="probe.absent_port"):
    """Bound nowhere."""


class LedgerClosed(Problem):
    code, status, title = "probe-ledger-closed", 409, "The ledger is closed"


def test_a_problem_of_a_domain_that_is_not_loaded_keeps_its_code() -> None:
    told = problem_as_json(LedgerClosed("Ledger 7 is closed", left=[1, None]))

    problem = restored(told.replace(b"probe-ledger-closed", b"probe-absent"), "probe.ledgers")

    assert (problem.code, problem.status) == ("probe-absent", 409)
    assert (problem.title, problem.detail) == ("The ledger is closed", "Ledger 7 is closed")
    assert problem.facts == {"left": [1, None]}
    assert "probe-absent" not in PROBLEMS


def test_the_bound_object_itself_is_handed_out() -> None:
    bindings, local = Bindings(), LocalLedgers()
    bindings.bind(Ledgers, local)

    assert bindings.of(Ledgers) is local
    with pytest.raises(ValueError, match="bound already"):
        bindings.bind(Ledgers, local)
    with pytest.raises(TypeError, match="bind the port itself"):
        Bindings().bind(LocalLedgers, local)


def test_the_start_fails_where_something_is_missing() -> None:
    bindings = Bindings()

    with pytest.raises(LookupError, match=r"probe\.absent_port"):
        bindings.of(Absent)
    with pytest.raises(LookupError, match=r"ports: probe\.absent_port, probe\.ledgers$"):
        bindings.require([Ledgers, Absent])
    with pytest.raises(LookupError, match=r"probe\.absent_port"):
        routes(bindings, [Absent], SECRET, now=lambda: NOON)
    with pytest.raises(ValueError, match="32 bytes"):
        routes(bindings, [], b"", now=lambda: NOON)


def declare(name: str, *bases: type, **body: object) -> type:
    """Declares at run time, because mypy refuses most of these cases when they are written."""
    return new_class("Bad", bases or (Port,), {"name": name}, lambda space: space.update(body))


def signed_as(text: str) -> Callable[..., object]:
    """An abstract method with this signature."""
    space: dict[str, Any] = {"abstractmethod": abstractmethod}
    exec(f"@abstractmethod\n{text}: ...", space)  # noqa: S102  # the text is a constant below
    method: Callable[..., object] = space["ask"]
    return method


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("async def ask(self, key: str) -> str", "keyword-only"),
        ("async def ask(self, *keys: str) -> str", "keyword-only"),
        ("async def ask(self, **keys: str) -> str", "keyword-only"),
        ("async def ask(self, *, key) -> str", "annotation"),
        ("async def ask(self, *, key: str)", "annotation"),
        ("def ask(self, *, key: str) -> str", "async"),
    ],
)
def test_a_method_that_could_not_travel_is_refused_when_declared(text: str, match: str) -> None:
    with pytest.raises(TypeError, match=rf"Bad\.ask.*{match}"):
        declare("probe.bad", ask=signed_as(text))
    assert "probe.bad" not in PORTS


def test_a_port_has_no_code_of_its_own() -> None:
    with pytest.raises(TypeError, match="only declares"):
        declare("probe.bad", ask=LocalLedgers.record)
    with pytest.raises(TypeError, match="only declares"):
        declare("probe.bad", ask=property(lambda self: 1))


@pytest.mark.parametrize(
    "kind", [object, Any, Bindings, list[Bindings], SecretStr, list[SecretStr | None]]
)
def test_what_is_no_value_is_refused_when_the_signature_is_read(kind: object) -> None:
    method = signed_as("async def ask(self, *, key: str) -> str")
    method.__annotations__["key"] = kind
    port = declare(f"probe.kind{abs(hash(str(kind)))}", ask=method)

    with pytest.raises(TypeError, match=r"Bad\.ask"):
        methods(port)


def test_a_name_is_given_once_and_only_by_the_declaring_class() -> None:
    with pytest.raises(TypeError, match="declared twice"):
        declare("probe.ledgers")
    with pytest.raises(TypeError, match="leave out its name"):
        declare("probe.renamed", Ledgers)
    with pytest.raises(TypeError, match="is no name"):
        declare("probe/odd")
    with pytest.raises(TypeError, match="needs name="):
        new_class("Nameless", (Port,))
    assert (LocalLedgers.port_name, LocalLedgers.port_timeout) == ("probe.ledgers", 0.4)
    assert methods(LocalLedgers) is methods(Ledgers)


def test_the_schema_shows_what_a_snapshot_must_hold() -> None:
    shown: Any = schema(Ledgers)

    assert list(shown["methods"]) == ["describe", "record"]
    assert shown["methods"]["record"]["idempotent"] is True
    arguments = shown["methods"]["describe"]["call"]["$defs"]["arguments"]
    assert arguments["required"] == ["ledger_id"]
    assert arguments["additionalProperties"] is False
    assert arguments["properties"]["ledger_id"]["format"] == "uuid"
    assert shown["methods"]["describe"]["answer"] == {"type": "string"}
