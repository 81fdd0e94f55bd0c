"""The rules for every operation of the API document, by number (O1 to O16).

docs/decisions/0030 gives the reasons. A finding names the rule and the place. Rules about the whole
document are here too, so that one call checks everything.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tests.documented import resolved
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.permission import Sensitivity
from thenga.kernel.errors import PROBLEMS, Problem
from thenga.kernel.http.document import naming, verbs
from thenga.kernel.http.document.refusals import schema_name
from thenga.kernel.http.document.schemas import inner

Json = dict[str, Any]
Finding = tuple[str, str]  # the rule, and what is wrong where

PROBLEM_TYPE = "application/problem+json"
HEADERS = (
    *("ETag", "Location", "Link", "Retry-After", "Idempotency-Replayed", "X-Request-Id"),
    *("RateLimit", "Deprecation", "Sunset"),
)
_ID = re.compile(r"[a-z]+\.[a-z][A-Za-z]*\.[a-z][A-Za-z]*")
_SUFFIX = re.compile(r"(View|Body)$")
_UNIONS = ("anyOf", "oneOf")


def each(made: Json) -> Iterator[tuple[str, str, Json]]:
    """Path, method and operation."""
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def parameters(made: Json, operation: Json) -> list[Json]:
    return [resolved(made, one) for one in operation.get("parameters", ())]


def responses(made: Json, operation: Json) -> dict[str, Json]:
    return {status: resolved(made, one) for status, one in operation["responses"].items()}


def all_schemas(made: Json) -> Iterator[tuple[str, Json]]:
    """Every schema in the document, however deep, with where it begins."""
    components = made["components"]
    for name, schema in components["schemas"].items():
        yield from ((name, one) for one in inner(schema))
    for kind in ("parameters", "headers"):
        for name, part in components[kind].items():
            yield from ((f"{kind}/{name}", one) for one in inner(part["schema"]))
    for name, response in components["responses"].items():
        for content in response.get("content", {}).values():
            yield from ((f"responses/{name}", one) for one in inner(content.get("schema", {})))
    for _, _, operation in each(made):
        parts = [p["schema"] for p in operation.get("parameters", ()) if "schema" in p]
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        parts += [c.get("schema", {}) for p in contents for c in p.get("content", {}).values()]
        for part in parts:
            yield from ((operation["operationId"], one) for one in inner(part))


def _o1(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for path, method, operation in each(made):
        for status, response in operation["responses"].items():
            if PROBLEM_TYPE in response.get("content", {}):
                yield f"{method} {path}: the problems of {status} are written out"
        for one in operation.get("parameters", ()):
            if one.get("in") in ("path", "header"):
                yield f"{method} {path}: {one['name']} is written out"


def _o2(made: Json, domains: Sequence[Domain]) -> Iterator[str]:
    ids = Counter(operation["operationId"] for _, _, operation in each(made))
    yield from (f"{name} names {count} operations" for name, count in ids.items() if count > 1)
    names = {domain.name for domain in domains}
    for path, method, operation in each(made):
        name = operation["operationId"]
        if not _ID.fullmatch(name) or name.split(".")[0] not in names:
            yield f"{method} {path}: {name} is not domain.resource.verb"
            continue
        verb = re.split("(?=[A-Z])", name.split(".")[2])[0]
        wanted = verbs.BY_METHOD.get(method.upper(), tuple(verbs.VERBS))
        if verb not in wanted:
            yield f"{method} {path}: {verb} is no verb of {method}"


def _o3(made: Json, domains: Sequence[Domain]) -> Iterator[str]:
    begins = tuple(domain.name.capitalize() for domain in domains)
    kernel = {*naming.KERNEL.values(), naming.PROBLEM, "ProblemFieldError"}
    kernel |= {schema_name(kind) for kind in PROBLEMS.values()}
    for name in made["components"]["schemas"]:
        if name not in kernel and not name.startswith(begins):
            yield f"{name} begins with no domain and is not of the kernel"


def _o4(made: Json, domains: Sequence[Domain]) -> Iterator[str]:
    begins = {domain.name.capitalize() for domain in domains}
    for name, schema in made["components"]["schemas"].items():
        if _SUFFIX.search(name) or not re.fullmatch("[A-Z][A-Za-z0-9]*", name):
            yield f"{name} is named after how it is made"
        is_page = {"items", "nextCursor"} == set(schema.get("properties", {}))
        if is_page and not name.endswith("Page"):
            yield f"{name} is a page and not called one"
        if name in begins and "id" not in schema.get("properties", {}):
            yield f"{name} says nothing but its domain"


def _o5(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    yield from (f"{where} has a title" for where, one in all_schemas(made) if "title" in one)


def _o6(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    zone = made["components"]["schemas"].get("TimeZoneName", {"type": "string", "examples": [""]})
    if zone.get("type") != "string" or "enum" in zone or not zone.get("examples"):
        yield "TimeZoneName is not a string with an example"


def _o7(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for where, one in all_schemas(made):
        for name, field in one.get("properties", {}).items():
            if field.get("type") == "null":
                yield f"{where}.{name} can only be null"


def _o8(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for path, method, operation in each(made):
        for one in parameters(made, operation):
            kinds = [k.get("type") for u in _UNIONS for k in one["schema"].get(u, ())]
            if "null" in [one["schema"].get("type"), *kinds]:
                yield f"{method} {path}: {one['name']} may be null"


def _o9(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for path, method, operation in each(made):
        asked = "X-Organization-Id" in [one["name"] for one in parameters(made, operation)]
        if asked and "{organizationId}" in path:
            yield f"{method} {path}: names the organization twice"
        if not asked and "{organizationId}" not in path and "x-permission" in operation:
            yield f"{method} {path}: takes no X-Organization-Id"


def _o10(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    known = made["components"]["headers"]
    yield from (f"{name} is not documented" for name in HEADERS if name not in known)
    for path, method, operation in each(made):
        for status, response in responses(made, operation).items():
            shown = response.get("headers", {})
            for name in _wanted(operation, status):
                if name not in shown:
                    yield f"{method} {path}: {status} does not tell of {name}"


def _wanted(operation: Json, status: str) -> Iterator[str]:
    yield "X-Request-Id"
    if status in ("429", "503"):
        yield "Retry-After"
    if status == "429":
        yield "RateLimit"
    if status in ("201", "202"):
        yield "Location"
    if status.startswith("2") and operation.get("x-paginated"):
        yield "Link"
    if status.startswith("2") and operation.get("x-keyed"):
        yield "Idempotency-Replayed"
    if status == "304":
        yield "ETag"
    if status.startswith("2") and operation.get("deprecated"):
        yield from ("Deprecation", "Sunset")


def _o11(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for name, response in made["components"]["responses"].items():
        content = response.get("content", {}).get(PROBLEM_TYPE)
        if content is None:
            continue
        codes, schema = response.get("x-problems", []), content["schema"]
        listed = [resolved(made, one) for one in schema.get("oneOf", [schema])]
        if not codes or [_code_of(one) for one in listed] != codes:
            yield f"{name} does not list the schemas of its codes"
        if len(codes) > 1 and schema.get("discriminator", {}).get("propertyName") != "code":
            yield f"{name} does not say that `code` tells its problems apart"
    for kind in (kind for shared in PROBLEMS.values() for kind in (shared, *added_to(shared))):
        schema = made["components"]["schemas"].get(schema_name(kind))
        if schema is not None and not set(kind.members) <= set(_properties(schema)):
            yield f"{schema_name(kind)} lacks members of its problem"


def added_to(shared: type[Problem]) -> list[type[Problem]]:
    """The problems that are a shared one with the further members of a domain."""
    return [kind for kind in shared.__subclasses__() if not kind.is_declared()]


def _code_of(schema: Json) -> str | None:
    codes = [one.get("properties", {}).get("code", {}) for one in inner(schema)]
    return next((code["const"] for code in codes if "const" in code), None)


def _properties(schema: Json) -> list[str]:
    return [name for one in inner(schema) for name in one.get("properties", {})]


def _o12(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for where, one in all_schemas(made):
        for union in _UNIONS:
            if sum("$ref" in kind for kind in one.get(union, ())) > 1:
                yield from (f"{where}: {fault}" for fault in _told_apart(made, one))


def _told_apart(made: Json, union: Json) -> Iterator[str]:
    told = union.get("discriminator")
    if told is None:
        yield "nothing tells the kinds apart"
        return
    for reference in told["mapping"].values():
        schema = resolved(made, {"$ref": reference})
        required = [name for one in inner(schema) for name in one.get("required", ())]
        if told["propertyName"] not in required:
            yield f"{reference} need not say {told['propertyName']}"


def _o13(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    money = made["components"]["schemas"].get("Money", {}).get("properties", {})
    if money and money["amount"].get("format") != "decimal":
        yield "Money.amount is no decimal"
    for where, one in all_schemas(made):
        if "format" in one and "pattern" in one:
            yield f"{where} has a pattern beside its format"


def _o14(made: Json, domains: Sequence[Domain]) -> Iterator[str]:
    granted = {one.code: one for domain in domains for one in domain.permissions}
    for path, method, operation in each(made):
        names = [one["name"] for one in parameters(made, operation)]
        facts: Json = {
            "x-paginated": "cursor" in names or _is_page(made, operation),
            "x-keyed": "Idempotency-Key" in names,
            "x-long-running": "202" in operation["responses"],
            "x-if-match": "If-Match" in names,
        }
        known = granted.get(operation.get("x-permission", ""))
        if known is not None:
            grave = known.sensitivity in (Sensitivity.SENSITIVE, Sensitivity.ADMINISTRATION)
            facts |= {"x-agents": known.agents, "x-fresh-proof": grave}
            facts |= {"x-audience": [*known.audiences], "x-feature": known.feature}
            facts["x-people-only"] = not known.keys and "service" not in known.audiences
        for name, value in facts.items():
            said = operation.get(name)
            if bool(said) != bool(value) or (isinstance(value, str | list) and said != value):
                yield f"{method} {path}: {name} is {said} and should be {value}"


def _is_page(made: Json, operation: Json) -> bool:
    found = responses(made, operation).get("200", {}).get("content", {})
    schema = resolved(made, found.get("application/json", {}).get("schema", {}))
    return {"items", "nextCursor"} <= set(schema.get("properties", {}))


def _o15(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    servers = made.get("servers", [])
    if [one["description"].partition(":")[0] for one in servers] != ["Live", "Sandbox"]:
        yield "the servers are not those of live and sandbox"
    for one in servers:
        if not re.match("https?://[^/]", one["url"]):
            yield f"{one['url']} is no absolute address"
    for path, method, operation in each(made):
        parts = [operation.get("requestBody", {}), *responses(made, operation).values()]
        for content in (c for part in parts for c in part.get("content", {}).values()):
            if "example" in content and "examples" in content:
                yield f"{method} {path}: has an example and examples"


def _o16(made: Json, _: Sequence[Domain]) -> Iterator[str]:
    for name, schema in made["components"]["schemas"].items():
        if not schema.get("description"):
            yield f"{name} is not described"
    for where, one in all_schemas(made):
        for name, field in one.get("properties", {}).items():
            if not field.get("description"):
                yield f"{where}.{name} is not described"
    for path, method, operation in each(made):
        for one in parameters(made, operation):
            if not one.get("description"):
                yield f"{method} {path}: {one['name']} is not described"
    components = made["components"]
    for kind in ("headers", "responses"):
        for name, one in components[kind].items():
            if not one.get("description"):
                yield f"{kind}/{name} is not described"


Rule = Callable[[Json, Sequence[Domain]], Iterator[str]]
RULES: dict[str, Rule] = {
    "O1": _o1,
    "O2": _o2,
    "O3": _o3,
    "O4": _o4,
    "O5": _o5,
    "O6": _o6,
    "O7": _o7,
    "O8": _o8,
    "O9": _o9,
    "O10": _o10,
    "O11": _o11,
    "O12": _o12,
    "O13": _o13,
    "O14": _o14,
    "O15": _o15,
    "O16": _o16,
}


def lint(
    made: Json, domains: Sequence[Domain], rules: Iterable[str] = RULES.keys()
) -> list[Finding]:
    """All findings of these rules, by rule."""
    return [(name, what) for name in rules for what in RULES[name](made, domains)]
