"""What the API document shows is what it promises: examples fit, names are plain."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest

from tests.documented import whole_document
from tests.suites import allowed
from thenga import topology
from thenga.kernel.http.document import examples
from thenga.kernel.http.document.operations import operations

DOMAINS = topology.load(topology.DOMAINS)
OPERATIONS = operations(DOMAINS)
Json = dict[str, Any]


_DOCUMENT = "urn:thenga:api"


@pytest.fixture(scope="module")
def made() -> Json:
    return whole_document()


def example_faults(made: Json) -> list[str]:
    """Examples of bodies and answers that their own schema refuses."""
    registry = jsonschema_rs.Registry([(_DOCUMENT, made)])
    faults = []
    for name, place, pointer, example in _shown(made):
        schema = {"$ref": f"{_DOCUMENT}#{pointer}/schema"}
        validator = jsonschema_rs.validator_for(schema, registry=registry)
        for error in validator.iter_errors(example):
            where = "/".join(map(str, error.instance_path))
            faults.append(f"{name} {place} /{where}: {error.message[:200]}")
    return faults


def _shown(made: Json) -> Iterator[tuple[str, str, str, Any]]:
    """Operation, place, pointer to the content, and the example that is shown there."""
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            parts = {("requestBody",): operation.get("requestBody", {})}
            parts |= {
                ("responses", status): part for status, part in operation["responses"].items()
            }
            for steps, part in parts.items():
                shown = part.get("content", {}).get("application/json", {})
                if "example" in shown:
                    pointer = _pointer("paths", path, method, *steps, "content", "application/json")
                    yield operation["operationId"], steps[-1], pointer, shown["example"]


def _pointer(*steps: str) -> str:
    return "".join("/" + quote(s.replace("~", "~0").replace("/", "~1"), safe="~") for s in steps)


def snake_keys() -> set[str]:
    """Names in recorded exchanges that are no camel case, with the operation and their place."""
    return {
        f"{name}{path}"
        for domain in DOMAINS
        for name, example in examples.load(domain).items()
        for part in (example["request"], example["response"])
        for path, key in _keys(part)
        if re.fullmatch("[a-z][A-Za-z0-9]*", key) is None
    }


def _keys(part: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        for key, inner in part.items():
            yield path, key
            yield from _keys(inner, f"{path}/{key}")
    elif isinstance(part, list):
        for inner in part:
            yield from _keys(inner, path)


def test_every_example_fits_its_schema(made: Json) -> None:
    shown = list(_shown(made))

    faults = example_faults(made)

    print(f"examples={len(shown)} faults={len(faults)}")
    assert faults == []


def test_every_name_on_the_wire_is_camel_case() -> None:
    assert snake_keys() <= allowed.FREE_MAPS.keys()


def test_no_schema_is_named_after_a_module(made: Json) -> None:
    assert [name for name in made["components"]["schemas"] if "__" in name] == []


def test_a_patch_states_no_defaults(made: Json) -> None:
    bodies = {
        methods["patch"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for methods in made["paths"].values()
        if "patch" in methods
    }
    schemas = made["components"]["schemas"]

    stating = [
        (body, name)
        for body in bodies
        for name, field in schemas[body.rpartition("/")[2]]["properties"].items()
        if "default" in field
    ]

    assert len(bodies) >= 16
    assert stating == []


def test_whatever_is_sent_is_described(made: Json) -> None:
    without = [
        one.name
        for one in OPERATIONS
        if one.door.entrance.raw
        and "requestBody" not in made["paths"][one.path][one.method.lower()]
    ]

    assert without == []


def test_a_planted_example_that_lacks_a_field_is_found(made: Json) -> None:
    planted = deepcopy(made)
    answer = planted["paths"]["/v1/billing/accounts/{accountId}"]["get"]["responses"]["200"]
    del answer["content"]["application/json"]["example"]["standing"]

    faults = example_faults(planted)

    assert faults == ['billing.accounts.get 200 /: "standing" is a required property']
