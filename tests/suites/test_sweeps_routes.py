"""Every route has one way in, one known permission, a sentence, and bodies without surprises."""

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import APIRouter
from fastapi import Path as PathParameter
from pydantic import BaseModel, RootModel

from tests.documented import resolved, statuses, whole_document
from tests.factories import held, identity
from tests.plain_fields import plain_fields
from tests.suites import allowed
from tests.suites.calls.sending import is_staffs
from thenga import topology
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.http.doors import Door, WithoutEntrance, router
from thenga.kernel.http.entrances import Entrance, reads
from thenga.kernel.process.host import Host
from thenga.kernel.values.shapes import Shape

DOMAINS = topology.load(topology.DOMAINS)
OPERATIONS = operations(DOMAINS)
IN_PATH = "{organizationId}"
# What only the server says.
SERVER_OWNED = {
    *("organization_id", "user_id", "actor_id", "status", "version", "staff", "price"),
    *("verified", "verified_at", "score", "decision", "approved", "approved_by", "approved_at"),
    *("created_at", "created_by", "updated_at", "updated_by", "archived_at", "next_check_at"),
}


def route_faults(domains: Sequence[Domain]) -> list[str]:
    """What is wrong with the routes themselves."""
    faults = []
    for domain in domains:
        codes = {granted.code for granted in domain.permissions}
        for each in domain.routers:
            for route in each.routes:
                faults += [f"{domain.name} {f}" for f in _faults_of(route, codes)]
    return faults


def _faults_of(route: Any, codes: set[str]) -> Iterator[str]:
    if not isinstance(route, Door) or not isinstance(route.entrance, Entrance):
        yield f"{getattr(route, 'path', route)}: has no entrance"
        return
    permission = route.entrance.permission
    if permission is not None and permission not in codes:
        yield f"{route.path}: {permission} is not in the catalogue of its domain"
    if permission is None and not {"limit", "scheme"} & vars(route.entrance).keys():
        yield f"{route.path}: has no permission, no limit and no signature"
    if not inspect.getdoc(inspect.unwrap(route.endpoint)):
        yield f"{route.path}: says nothing of itself"
    if IN_PATH in route.path and "organization_id" in inspect.signature(route.endpoint).parameters:
        yield f"{route.path}: takes the organization that its unit of work is for already"
    if len(route.methods or ()) != 1:
        yield f"{route.path}: answers {route.methods}"


def document_faults(made: dict[str, Any]) -> list[str]:
    """What the document leaves out: an operation, its identifier, or what an answer looks like."""
    known = {
        operation["operationId"]: operation
        for methods in made["paths"].values()
        for operation in methods.values()
    }
    faults = []
    for one in OPERATIONS:
        written = known.get(one.id, {"responses": {}})
        for status in statuses(one):
            answer = resolved(made, written["responses"].get(str(status), {}))
            bare = status in (204, 303, 304) or answer.get("content")
            if not answer.get("description") or not bare:
                faults.append(f"{one.name}: {status} is not described")
    return faults


def body_faults(body: Any) -> list[str]:
    """What is wrong with the body that an operation takes."""
    faults = []
    for model in _models(body):
        if not issubclass(model, Body | Shape) or model.model_config.get("extra") != "forbid":
            faults.append(f"{model.__name__}: lets unknown fields through")
        faults += [f"{field}: no bound or form holds it" for field in plain_fields(model)]
        for name in SERVER_OWNED & set(model.model_fields):
            if f"{model.__name__}.{name}" not in allowed.SERVER_OWNED:
                faults.append(f"{model.__name__}.{name}: only the server says this")
    return faults


def _body_of(one: Operation) -> Any:
    bodies = [p.field_info.annotation for p in one.door.dependant.body_params]
    return bodies[0] if bodies else None


def _models(kind: Any, seen: frozenset[type] = frozenset()) -> list[type[BaseModel]]:
    """The models that a type is made of, however deep."""
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return [model for part in get_args(kind) for model in _models(part, seen)]
    if kind in seen:
        return []
    fields = [field.annotation for field in kind.model_fields.values()]
    if issubclass(kind, RootModel):  # a body of several forms, each of them a model
        return [m for field in fields for m in _models(field, seen | {kind})]
    return [kind, *(m for field in fields for m in _models(field, seen | {kind}))]


def test_every_route_has_entrance_permission_and_summary() -> None:
    doors = [one.door for one in OPERATIONS]

    faults = route_faults(DOMAINS)

    ways_in = sum(isinstance(door.entrance, Entrance) for door in doors)
    permissions = {one.permission for one in OPERATIONS if one.permission}
    print(
        f"routes={len(doors)} entrances={ways_in} permissions={len(permissions)} "
        f"faults={len(faults)}"
    )
    assert faults == []


def test_every_answer_of_every_operation_is_described() -> None:
    assert document_faults(whole_document()) == []


def test_bodies_are_bounded_closed_and_without_server_fields() -> None:
    models = [model for one in OPERATIONS for model in _models(_body_of(one))]

    faults = [fault for one in OPERATIONS for fault in body_faults(_body_of(one))]

    print(f"body_models={len(set(models))} faults={len(faults)}")
    assert faults == []


async def test_unknown_field_is_refused_by_every_operation(
    api: httpx2.AsyncClient, host: Host
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, owner.organization_id)
    staff = await identity.staff(host, *PLATFORM_ROLES)
    with_body = [one for one in OPERATIONS if _body_of(one) is not None]

    refused = [
        await _unknown_refused(api, one, owner, staff if is_staffs(one) else owner)
        for one in with_body
    ]

    print(f"operations_with_body={len(with_body)} unknown_refused={sum(refused)}")
    assert [one.name for one, no in zip(with_body, refused, strict=True) if not no] == []


async def _unknown_refused(
    api: httpx2.AsyncClient, one: Operation, owner: identity.Member, who: identity.Person
) -> bool:
    path = one.path.removeprefix("/v1").format_map(_Ids(organizationId=owner.organization_id))
    named = {"X-Organization-Id": str(owner.organization_id), "If-Match": '"1"'}
    headers = who.headers | named
    response = await api.request(one.method, path, json={"notKnown": 1}, headers=headers)
    told = response.json().get("errors", [])
    unknown = {"pointer": "/notKnown", "code": "extra_forbidden"}
    return response.status_code == 422 and any(unknown.items() <= e.items() for e in told)


class _Ids(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return str(uuid4())


# --- planted bugs -------------------------------------------------------------------------------


class PlantedInside(BaseModel):
    note: str


class PlantedBody(Body):
    status: str
    inside: list[PlantedInside]


class PlantedPermission(StrEnum):
    READ = "planted:thing:read"


def _planted(made: APIRouter) -> Domain:
    return Domain(name="planted", home=Path(), routers=(made,))


def test_every_part_of_every_path_is_described() -> None:
    made = whole_document()
    shared = {
        f"#/components/parameters/{n}": p for n, p in made["components"]["parameters"].items()
    }
    parts = {
        (one.path, one.method): [
            parameter["name"]
            for given in made["paths"][one.path][one.method.lower()].get("parameters", [])
            if (parameter := shared.get(given.get("$ref", ""), given))["in"] == "path"
        ]
        for one in OPERATIONS
    }
    below = sum(IN_PATH in path for path, _ in parts)

    print(f"operations_below_an_organization={below}")
    assert below >= 125
    assert {key: sorted(names) for key, names in parts.items()} == {
        (path, method): sorted(re.findall(r"{(\w+)}", path)) for path, method in parts
    }


def test_a_planted_route_that_takes_the_organization_is_found() -> None:
    doors = router("Planted")

    @doors.get("/organizations/{organizationId}/planted")
    async def planted(
        organization_id: Annotated[UUID, PathParameter(alias="organizationId")],
        read: Annotated[Reader, reads(PlantedPermission.READ)],
    ) -> None:
        """Could read another's, if it believed the path."""

    faults = route_faults([_planted(doors)])
    assert any("takes the organization" in fault for fault in faults), faults


def test_a_planted_route_without_entrance_is_found() -> None:
    plain = APIRouter()

    @plain.get("/planted")
    async def planted() -> None:
        """A way around every check."""

    assert route_faults([_planted(plain)]) == ["planted /planted: has no entrance"]


def _is_file(answer: dict[str, Any]) -> bool:
    """Whether the answer is bytes alone, of which a page of JSON can show nothing."""
    media = answer.get("content", {}).values()
    return bool(media) and all(one["schema"].get("format") == "binary" for one in media)


def test_every_operation_shows_a_recorded_example() -> None:
    document = whole_document()
    shared = document["components"]["responses"]

    without = [
        one.name
        for one in OPERATIONS
        for status, told in document["paths"][one.path][one.method.lower()]["responses"].items()
        if status in ("200", "201", "202")
        for answer in [shared[told["$ref"].rpartition("/")[2]] if "$ref" in told else told]
        if "example" not in str(answer) and not _is_file(answer)
    ]

    assert without == []


def test_a_planted_door_without_entrance_does_not_open() -> None:
    doors = router("Planted")

    async def planted() -> None:
        """A way around every check."""

    doors.get("/planted")(planted)

    with pytest.raises(WithoutEntrance):
        operations([_planted(doors)])  # as every application does when it starts


def test_a_planted_body_is_found() -> None:
    faults = body_faults(PlantedBody)

    assert "PlantedBody.status: only the server says this" in faults
    assert "PlantedInside: lets unknown fields through" in faults
    assert "PlantedBody.inside.note: plain str: no bound or form holds it" in faults


async def test_a_planted_answer_that_is_not_documented_is_found(
    api: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    monkeypatch.setattr(NotFound, "status", 418)

    with pytest.raises(AssertionError, match="get_organization answered 418"):
        await api.get(f"/organizations/{owner.organization_id}", headers=owner.headers)


async def test_a_planted_code_that_is_not_documented_is_found(
    api: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    monkeypatch.setattr(NotFound, "code", "lost-in-the-bush")

    with pytest.raises(AssertionError, match="get_organization answered lost-in-the-bush"):
        await api.get(f"/organizations/{owner.organization_id}", headers=owner.headers)
