"""What the API document shows is what it promises: examples fit, names are plain."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.suites import allowed
from thenga import topology
from thenga.kernel.http import examples
from thenga.kernel.http.openapi import document
from thenga.kernel.http.operations import mounted, operations

DOMAINS = topology.load(topology.DOMAINS)
OPERATIONS = operations(DOMAINS)
Json = dict[str, Any]


@pytest.fixture(scope="module")
def made() -> Json:
    return document(mounted(DOMAINS).routes, DOMAINS)


def example_faults(made: Json) -> list[str]:
    """Examples of bodies and answers that their own schema refuses."""
    faults = []
    for name, place, shown in _shown(made):
        schema = {**shown["schema"], "components": made["components"]}
        for error in jsonschema_rs.validator_for(schema).iter_errors(shown["example"]):
            where = "/".join(map(str, error.instance_path))
            faults.append(f"{name} {place} /{where}: {error.message[:200]}")
    return faults


def _shown(made: Json) -> Iterator[tuple[str, str, Json]]:
    for methods in made["paths"].values():
        for operation in methods.values():
            sent = {"body": operation.get("requestBody", {})}
            for place, part in (sent | operation["responses"]).items():
                shown = part.get("content", {}).get("application/json", {})
                if "example" in shown:
                    yield operation["operationId"], place, shown


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
    answer = made["paths"]["/v1/billing/accounts/{accountId}"]["get"]["responses"]["200"]
    shown = answer["content"]["application/json"]
    whole = shown["example"]
    shown["example"] = {name: value for name, value in whole.items() if name != "standing"}

    faults = example_faults(made)

    shown["example"] = whole
    assert faults == ['get_billing_account 200 /: "standing" is a required property']
