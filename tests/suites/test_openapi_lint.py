"""openapi-lint: the API document keeps the rules O1 to O16, and a new domain renames nothing."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import brotli
import orjson
import pytest
from pydantic import Field

import thenga
from tests.documented import lean_document, resolved, unknown_members, whole_document
from tests.suites.openapi_lint import RULES, Json, added_to, lint
from thenga import topology
from thenga.domains.organization.permissions import Permission
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS, NotFound
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document import excerpts
from thenga.kernel.http.document.components import SameSchema, schema_names
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import Operation, mounted, operations
from thenga.kernel.http.document.schemas import inner
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes

DOMAINS = topology.load(topology.DOMAINS)
BYTES, COMPRESSED = 5_000, 400  # an operation, of the lean document


def operation_count(made: Json) -> int:
    return sum(len(methods) for methods in made["paths"].values())


@pytest.mark.parametrize("made", [lean_document, whole_document], ids=["lean", "full"])
def test_the_document_keeps_the_rules(made: Callable[[], Json]) -> None:
    findings = lint(made(), DOMAINS)

    counted = Counter(rule for rule, _ in findings)
    print(f"operations={operation_count(made())} { ({rule: counted[rule] for rule in RULES}) }")
    assert findings == []


def test_the_lean_document_is_small() -> None:
    made = lean_document()
    text = orjson.dumps(made)
    count = operation_count(made)

    whole, small = len(text) / count, len(brotli.compress(text, quality=9)) / count

    print(f"operations={count} bytes={whole:.0f} of {BYTES} brotli={small:.0f} of {COMPRESSED}")
    assert whole <= BYTES
    assert small <= COMPRESSED
    assert all("example" not in kind for kind in made["components"])


@pytest.mark.parametrize("domain", [domain.name for domain in DOMAINS])
def test_one_domain_has_only_what_it_leads_to(domain: str) -> None:
    whole = lean_document()

    part = excerpts.of_operations(
        whole, [one for one in operations(DOMAINS) if one.domain.name == domain]
    )

    others = tuple(d.name.capitalize() for d in DOMAINS if d.name != domain)
    foreign = [name for name in part["components"]["schemas"] if name.startswith(others)]
    missing = [one for one in _references(part) if not _leads(part, one)]
    print(f"{domain} operations={operation_count(part)} bytes={len(orjson.dumps(part))}")
    assert operation_count(part) < operation_count(whole)
    assert (foreign, missing) == ([], [])
    assert [f for f in lint(part, DOMAINS) if f[0] != "O10"] == []


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (v for k, v in part.items() if k == "$ref" and isinstance(v, str))
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _references(one)


def _leads(made: Json, reference: str) -> bool:
    place: Any = made
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step) if isinstance(place, dict) else None
    return place is not None


# --- another domain ------------------------------------------------------------------------------

STUB = "thenga.domains.stub.api.equipment"


class EquipmentView(Stored):
    """The same name as one of Organization, and of Billing."""

    __module__ = STUB
    name: str


class AccountView(View):
    """The same name as one of Billing, and of Identity."""

    __module__ = STUB
    equipment: EquipmentView


class AddEquipment(Body):
    """The same name as one of Organization."""

    __module__ = STUB
    name: Annotated[str, Field(max_length=5, pattern="^[a-z]*$")]


def _stub() -> Domain:
    doors = make_router("Stub / Equipment")

    async def list_stubs(
        read: Annotated[Reader, reads(Permission.PROFILE_READ)],
    ) -> PageOf[EquipmentView]:
        """All of them."""
        raise NotImplementedError

    async def add_stub(
        body: AddEquipment, work: Annotated[Work, writes(Permission.PROFILE_READ)]
    ) -> AccountView:
        """Add one."""
        raise NotImplementedError

    list_stubs.__module__ = add_stub.__module__ = STUB
    doors.get("/stubs")(list_stubs)
    doors.post("/stubs", status_code=201)(add_stub)
    return Domain(name="stub", home=Path("/nowhere"), routers=(doors,))


def test_another_domain_renames_no_schema() -> None:
    before = lean_document()["components"]["schemas"]
    domains = [*DOMAINS, _stub()]

    after = document(mounted(domains).routes, domains, examples=False)["components"]["schemas"]

    added = sorted(after.keys() - before.keys())
    assert {name: after.get(name) for name in before} == before
    assert added == [
        *("StubEquipment", "StubEquipmentAccount", "StubEquipmentAdd", "StubEquipmentPage"),
    ]


def test_two_classes_with_one_name_in_a_domain_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routes = mounted([_stub()]).routes
    monkeypatch.setattr(
        "thenga.kernel.http.document.components.component", lambda kind: "StubEquipment"
    )

    with pytest.raises(SameSchema, match="rename one"):
        schema_names(routes, {"EquipmentView": {}, "AccountView": {}})


# --- problems ------------------------------------------------------------------------------------


_OF_RAISING = (None, "headers", "kind", "status")


def undeclared_facts(source: str, where: str) -> list[str]:
    """Keywords that a problem is raised with and that its class does not declare."""
    known = [kind for shared in PROBLEMS.values() for kind in (shared, *added_to(shared))]
    kinds = {kind.__name__: kind for kind in known}
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if called == "not_possible":
            given = {word.arg: word.value for word in node.keywords}
            called = ast.unparse(given["kind"]) if "kind" in given else "InvalidTransition"
        said = [word.arg for word in node.keywords if word.arg not in _OF_RAISING]
        if called in kinds and f"events.{called}" not in ast.unparse(node):
            unknown = [name for name in said if name not in kinds[called].members]
            faults += [f"{where}:{node.lineno} {called} {name}" for name in unknown]
    return faults


def test_every_problem_declares_what_it_says() -> None:
    home = Path(thenga.__file__).parent
    files = sorted(home.rglob("*.py"))

    faults = [f for p in files for f in undeclared_facts(p.read_text(), str(p.relative_to(home)))]

    # An event of the same name as a problem is published with fields of its own.
    assert [fault for fault in faults if " SessionRevoked " not in fault] == []


def test_a_planted_fact_that_no_class_declares_is_found() -> None:
    source = 'raise NotFound("Gone.", planted=1)'

    assert undeclared_facts(source, "here") == ["here:1 NotFound planted"]
    assert unknown_members({"code": "not-found", "title": "", "planted": 1}, NotFound) == [
        "planted"
    ]


def test_a_domain_adds_members_to_a_shared_problem() -> None:
    made, by_name = lean_document(), {one.name: one for one in operations(DOMAINS)}
    refund, pause = by_name["refund_payment"], by_name["pause_subscription"]

    shown = {one.name: _members(made, one, "invalid-transition") for one in (refund, pause)}

    assert shown["refund_payment"] - shown["pause_subscription"] == {"disputeStatus"}
    assert shown["pause_subscription"] - shown["refund_payment"] == set()


def _members(made: Json, one: Operation, code: str) -> set[str]:
    """The members of a problem in the answer of an operation."""
    answer = resolved(made, made["paths"][one.path][one.method.lower()]["responses"]["409"])
    schema = answer["content"]["application/problem+json"]["schema"]
    named = schema["discriminator"]["mapping"][code]
    return {
        name
        for part in inner(resolved(made, {"$ref": named}))
        for name in part.get("properties", {})
    }


def test_a_planted_member_of_another_problem_is_found() -> None:
    """What one operation declares is not declared for another."""
    by_name = {one.name: one for one in operations(DOMAINS)}
    told = {"code": "invalid-transition", "from": "active", "disputeStatus": "open"}
    source = 'raise not_possible("No.", status="a", operation="b", allowed=[], {}disputeStatus="c")'

    names = ("refund_payment", "pause_subscription")
    kinds = [by_name[name].door.problems[told["code"]] for name in names]

    assert [unknown_members(told, kind) for kind in kinds] == [[], ["disputeStatus"]]
    assert undeclared_facts(source.format("kind=RefundNotPossible, "), "here") == []
    assert undeclared_facts(source.format(""), "here") == ["here:1 InvalidTransition disputeStatus"]


# --- planted faults ------------------------------------------------------------------------------

EQUIPMENT = "/v1/organizations/{organizationId}/equipment"


def _add(made: Json) -> Json:
    found: Json = made["paths"][EQUIPMENT]["post"]
    return found


def _list(made: Json) -> Json:
    found: Json = made["paths"][EQUIPMENT]["get"]
    return found


def _schema(made: Json, name: str = "OrganizationEquipment") -> Json:
    found: Json = made["components"]["schemas"][name]
    return found


def _write_out(made: Json) -> None:
    _add(made)["responses"]["404"] = made["components"]["responses"]["NotFound"]


def _rename(made: Json, new: str) -> None:
    schemas = made["components"]["schemas"]
    schemas[new] = schemas["OrganizationEquipment"]


def _forget_header(made: Json) -> None:
    del made["components"]["responses"]["RateLimited"]["headers"]["Retry-After"]


def _merge_problems(made: Json) -> None:
    content = made["components"]["responses"]["NotPermitted"]["content"]
    content["application/problem+json"]["schema"] = {"$ref": "#/components/schemas/Problem"}


def _forget_discriminator(made: Json) -> None:
    del _schema(made, "IdentitySessionPage")["properties"]["items"]["items"]["discriminator"]


def _double_example(made: Json) -> None:
    _add(made)["requestBody"]["content"]["application/json"] |= {"example": 1, "examples": {}}


_NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_QUERY = {"name": "planted", "in": "query", "description": "…", "schema": _NULLABLE}
PLANTED: dict[str, list[Callable[[Json], Any]]] = {
    "O1": [_write_out],
    "O2": [
        lambda made: _add(made).update(operationId="add_equipment"),
        lambda made: _add(made).update(operationId="organization.equipment.list"),
        lambda made: _add(made).update(operationId="organization.equipment.frobnicate"),
        lambda made: made["paths"][EQUIPMENT].update(put=_add(made)),
    ],
    "O3": [lambda made: _rename(made, "Equipment")],
    "O4": [lambda made: _rename(made, "OrganizationEquipmentView")],
    "O5": [lambda made: _schema(made)["properties"]["name"].update(title="Name")],
    "O6": [lambda made: _schema(made, "TimeZoneName").update(enum=["Africa/Johannesburg"])],
    "O7": [lambda made: _schema(made)["properties"].update(planted={"type": "null"})],
    "O8": [lambda made: _list(made)["parameters"].append(_QUERY)],
    "O9": [
        lambda made: _add(made)["parameters"].append(
            {"$ref": "#/components/parameters/X-Organization-Id"}
        )
    ],
    "O10": [_forget_header, lambda made: made["components"]["headers"].pop("Sunset")],
    "O11": [_merge_problems],
    "O12": [_forget_discriminator],
    "O13": [lambda made: _schema(made, "Money")["properties"]["amount"].update(pattern="^1$")],
    "O14": [
        lambda made: _add(made).pop("x-keyed"),
        lambda made: _add(made).update({"x-agents": "never"}),
    ],
    "O15": [_double_example, lambda made: made["servers"][0].update(url="/")],
    "O16": [lambda made: _schema(made, "Problem")["properties"]["title"].pop("description")],
}


def test_every_rule_has_a_planted_fault() -> None:
    assert PLANTED.keys() == RULES.keys()


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_fault_is_found(rule: str) -> None:
    for plant in PLANTED[rule]:
        made = orjson.loads(orjson.dumps(lean_document()))
        plant(made)

        assert lint(made, DOMAINS, [rule]) != []
