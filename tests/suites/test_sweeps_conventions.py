"""One convention over all domains: the order of lists, the spelling of states, one name for one
thing."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from tests.documented import whole_document
from tests.kernel.paper import Permission, paper
from tests.suites import allowed
from thenga import topology
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.events import catalogue
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.http.doors import router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged

DOMAINS = topology.load(topology.DOMAINS)
OPERATIONS = operations(DOMAINS)
_OF_TIME = re.compile(r"[A-Za-z]+At|version")  # what grows with time
_AMERICAN = re.compile(r".*\bcancel(ed|ing)\b.*")


def _default_order(one: Operation) -> str | None:
    """The order of a list where the caller names none; None for what is no list."""
    for dependency in one.door.dependant.dependencies:
        for parameter in dependency.query_params:
            if parameter.alias == "sort":
                return str(parameter.get_default())
    return None


def order_faults(listed: Sequence[Operation]) -> list[str]:
    """Lists that begin with the oldest, and are not lists of things with a name."""
    return [
        f"{one.method} {one.path}: {order}"
        for one in listed
        if (order := _default_order(one)) is not None
        and _OF_TIME.fullmatch(order)
        and one.function.__name__ not in allowed.NAMED_THINGS
    ]


def _words_in(part: Any) -> Iterator[str]:
    """Every enum member, constant and name of a field in a schema."""
    if isinstance(part, dict):
        yield from (str(word) for word in part.get("enum", ()) if isinstance(word, str))
        yield from [part["const"]] if isinstance(part.get("const"), str) else []
        properties = part.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        part = [*part.values()]
    if isinstance(part, list):
        for inner in part:
            yield from _words_in(inner)


def american(part: Any) -> list[str]:
    """Words of a document that spell cancelled in another way."""
    spelt = (re.sub(r"[_.-]|(?<=[a-z])(?=[A-Z])", " ", word) for word in _words_in(part))
    return sorted({word for word in spelt if _AMERICAN.fullmatch(word.lower())})


def organization_faults(made: dict[str, Any]) -> list[str]:
    """Parameters and fields that name the organization in another way than `organizationId`."""
    names = [
        (f"{method} {path}", parameter["name"])
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
        for parameter in operation.get("parameters", ())
        if "name" in parameter and parameter["in"] in ("path", "query")
    ]
    names += [
        (schema, field)
        for schema, each in made["components"]["schemas"].items()
        for field in each.get("properties", ())
    ]
    wrong = re.compile(r"(tenant|company|organi[sz]ation|org)(id)?", re.IGNORECASE)
    return [
        f"{place}: {name}"
        for place, name in names
        if name != "organizationId"
        and wrong.fullmatch(name)
        and name not in allowed.ORGANIZATION_NAMES
    ]


def test_every_history_begins_with_the_newest() -> None:
    lists = [one for one in OPERATIONS if _default_order(one) is not None]
    histories = [one for one in lists if str(_default_order(one)).startswith("-")]
    named = {one.function.__name__ for one in lists}

    print(f"\nlists={len(lists)} newest_first={len(histories)} faults={order_faults(lists)}")
    assert order_faults(lists) == []
    assert histories
    assert set(allowed.NAMED_THINGS) <= named  # no exception outlives its list


def test_a_planted_oldest_first_is_found(tmp_path: Path) -> None:
    made = paper(tmp_path)
    planted = router("Paper / Sheet")

    @planted.get("/paper/foldings")
    async def list_foldings(
        read: Annotated[Reader, reads(Permission.SHEET_READ)],
        page: Annotated[Paged, paged("createdAt")],
    ) -> dict[str, str]:
        """What was folded."""
        return {}

    listed = [
        Operation(made, "GET", f"/v1{route.path}", route)  # type: ignore[attr-defined, arg-type]
        for route in planted.routes
    ]

    assert order_faults(listed) == ["GET /v1/paper/foldings: createdAt"]


def test_cancelled_is_spelt_in_one_way() -> None:
    planted = {"properties": {"status": {"enum": ["open", "auto_canceled"]}}}

    assert american(planted) == ["auto canceled"]
    assert american(whole_document()["components"]["schemas"]) == []
    assert american(catalogue.asyncapi(DOMAINS)) == []
    states = [
        str(state) for domain in DOMAINS for each in domain.lifecycles for state in each.states
    ]
    assert [state for state in states if _AMERICAN.fullmatch(state.replace("_", " "))] == []


def test_the_organization_is_named_in_one_way() -> None:
    planted = {"paths": {}, "components": {"schemas": {"Asked": {"properties": {"tenantId": {}}}}}}

    assert organization_faults(planted) == ["Asked: tenantId"]
    assert organization_faults(whole_document()) == []
