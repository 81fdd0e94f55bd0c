"""The reference for people: a page that leads to an operation, and a page a domain."""

import inspect
import json
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS
from thenga.kernel.http.document.excerpts import Json
from thenga.kernel.http.document.markup import article, inline, page, table
from thenga.kernel.http.document.operations import operations
from thenga.kernel.http.document.schema_tables import fields_table, kind, resolve

_INTRODUCTION = Path(__file__).parent / "assets" / "introduction.md"
_JSON = "application/json"
_FIND = (
    '<p class="find"><input type="search" id="find" placeholder="{0}" aria-label="{0}" '
    'autocomplete="off"></p>'
)
_SCRIPT = '<script src="/docs/assets/find.js"></script>'


def contents(made: Json, domains: Sequence[Domain]) -> str:
    """How to begin, the domains, and every operation of them to search in."""
    cards = "".join(_card(domain) for domain in domains)
    rows = "".join(
        f'<tr data-find="{escape(_words(path, method, each), quote=True)}">'
        f"<td>{_method(method)}</td>"
        f'<td><a href="/docs/{domain.name}#{escape(each["operationId"])}">'
        f"<code>{escape(path)}</code></a></td><td>{escape(each.get('summary', ''))}</td></tr>"
        for domain in domains
        for path, method, each in _of_domain(made, domain)
    )
    found = table(("", "Path", "Does"), rows)
    body = (
        f'<ul class="domains">{cards}</ul><h2 id="operations">Operations</h2>'
        f"{_FIND.format('Find a path, a name or a permission')}{found}"
        f'<h2 id="begin">Begin</h2>{article(_INTRODUCTION.read_text())}'
    )
    said = (
        '<p>Choose a domain, or find an operation. <a href="#begin">How to begin</a> explains '
        "credentials, lists, changes and refusals.</p>"
    )
    return page("Thenga API", said + body + _SCRIPT)


def _card(domain: Domain) -> str:
    number = len(operations([domain]))
    return (
        f'<li><a href="/docs/{domain.name}"><b>{domain.name.capitalize()}</b></a>'
        f"<p>{inline(_about(domain))}</p><p><small>{number} operations · "
        f'<a href="/openapi/{domain.name}.json">OpenAPI</a></small></p></li>'
    )


def _about(domain: Domain) -> str:
    """What the domain's package says of itself."""
    for one in operations([domain]):
        package = sys.modules.get(one.function.__module__.partition(".api")[0])
        text = inspect.cleandoc(package.__doc__ or "") if package is not None else ""
        said = text.partition("\n\n")[0].removeprefix(f"{domain.name.capitalize()}: ")
        return said[:1].upper() + said[1:]
    return ""


def _of_domain(made: Json, domain: Domain) -> Iterator[tuple[str, str, Json]]:
    for one in operations([domain]):
        method = one.method.lower()
        if method in made["paths"].get(one.path, {}):
            yield one.path, method, made["paths"][one.path][method]


def domain_page(made: Json, domain: Domain, domains: Sequence[Domain]) -> str:
    """All operations of one domain, by what they are about."""
    groups: dict[str, list[tuple[str, str, Json]]] = {}
    for path, method, each in _of_domain(made, domain):
        groups.setdefault((each.get("tags") or [domain.name])[0], []).append((path, method, each))
    about = {tag["name"]: tag.get("description", "") for tag in made.get("tags", ())}
    aside = "".join(_links(name, found) for name, found in groups.items())
    sections = "".join(
        f'<section class="group"><h2 id="{_anchor(name)}">{escape(_short(name))}</h2>'
        f"<p>{inline(about.get(name, ''))}</p>"
        f"{''.join(_operation(made, *each) for each in found)}</section>"
        for name, found in groups.items()
    )
    others = " · ".join(_domain_link(each, domain) for each in domains)
    said = (
        f'<p class="others">{others}</p><p>{inline(_about(domain))}</p>'
        f'<p><a href="/openapi/{domain.name}.json">OpenAPI document of {domain.name}</a> · '
        f'<a href="/docs#begin">How to begin</a></p>'
        f"{_FIND.format('Find a path, a name or a permission')}"
    )
    return page(
        domain.name.capitalize(),
        said + sections + _SCRIPT,
        aside=f'<aside aria-label="Operations">{aside}</aside>',
    )


def _domain_link(each: Domain, here: Domain) -> str:
    name = each.name.capitalize()
    return f"<b>{name}</b>" if each is here else f'<a href="/docs/{each.name}">{name}</a>'


def _links(name: str, found: Sequence[tuple[str, str, Json]]) -> str:
    items = "".join(
        f'<li><a href="#{escape(each["operationId"])}">{escape(each.get("summary", path))}</a></li>'
        for path, _, each in found
    )
    return f"<details><summary>{escape(_short(name))}</summary><ul>{items}</ul></details>"


def _operation(made: Json, path: str, method: str, each: Json) -> str:
    permission = each.get("x-permission")
    needs = (
        f'Permission <code class="permission">{escape(permission)}</code>'
        if permission
        else "No permission needed."
    )
    parts = [
        f"<p>{inline(each.get('description', ''))}</p><p>{needs}{_marks(each)}</p>",
        _request(made, path, method, each),
        *_answers(made, each),
        _problems(made, each),
    ]
    name = escape(each["operationId"])
    return (
        f'<details class="operation" data-find="{escape(_words(path, method, each), quote=True)}">'
        f"<summary>{_method(method)} <code>{escape(path)}</code> "
        f"<span>{escape(each.get('summary', ''))}</span></summary>"
        f'<div id="{name}">{"".join(parts)}</div></details>'
    )


def _marks(each: Json) -> str:
    """Other properties of the operation that the document names, as `x-fresh-proof`."""
    told = [
        escape(name.removeprefix("x-").replace("-", " ")) + _value(value)
        for name, value in each.items()
        if name.startswith("x-") and name not in ("x-permission", "x-problems") and value
    ]
    return "".join(f' <span class="mark">{one}</span>' for one in told)


def _value(value: object) -> str:
    if value is True:
        return ""
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f": <code>{escape(shown)}</code>"


def _request(made: Json, path: str, method: str, each: Json) -> str:
    parameters = [resolve(made, one) for one in each.get("parameters", ())]
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code>"
        f"{' <b class=required>required</b>' if one.get('required') else ''}</td>"
        f"<td>{escape(one['in'])}</td><td>{escape(kind(made, one.get('schema', {})))}</td>"
        f"<td>{inline(one.get('description', ''))}</td></tr>"
        for one in parameters
    )
    listed = table(("Parameter", "In", "Kind", "Meaning"), rows) if rows else ""
    body = resolve(made, each.get("requestBody", {})).get("content", {}).get(_JSON, {})
    fields = fields_table(made, body["schema"], request=True) if "schema" in body else ""
    return f"<h3>Request</h3>{listed}{fields}{_call(path, method, each, _example(made, body))}"


def _call(path: str, method: str, each: Json, body: Any) -> str:
    """The request as a command to copy."""
    lines = [f"curl -X {method.upper()} '{{base}}{path}'"]
    if each.get("security"):
        lines.append("-H 'Authorization: Bearer thk_…'")
    if body is not None:
        text = json.dumps(body, indent=2, ensure_ascii=False).replace("'", r"'\''")
        lines += [f"-H 'Content-Type: {_JSON}'", f"-d '{text}'"]
    joined = " \\\n  ".join(lines)
    return f'<pre class="call">{escape(joined)}</pre>'


def _example(made: Json, media: Json) -> Any:
    if "example" in media:
        return media["example"]
    for one in media.get("examples", {}).values():
        return resolve(made, one).get("value")
    return None


def _answers(made: Json, each: Json) -> Iterator[str]:
    for status, response in each["responses"].items():
        answer = resolve(made, response)
        if status.startswith(("4", "5")):
            continue
        yield f"<h3>Answer {escape(status)}</h3><p>{inline(answer.get('description', ''))}</p>"
        media = answer.get("content", {}).get(_JSON)
        if media is None:
            continue
        example = _example(made, media)
        if example is not None:
            yield f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"
        fields = fields_table(made, media.get("schema", {}), request=False)
        if fields:
            yield f"<details><summary>Fields of the answer</summary>{fields}</details>"


def _problems(made: Json, each: Json) -> str:
    """Every refusal by its code, which leads to what to do about it."""
    rows = "".join(
        f'<tr><td>{status}</td><td><a href="/problems/{escape(code)}"><code>{escape(code)}</code>'
        f"</a></td><td>{escape(PROBLEMS[code].title) if code in PROBLEMS else ''}</td></tr>"
        for status, response in sorted(each["responses"].items())
        if status.startswith(("4", "5"))
        for code in _codes(resolve(made, response))
    )
    shown = table(("Status", "Code", "Problem"), rows)
    return f"<h3>Problems</h3>{shown}" if rows else ""


def _codes(response: Json) -> list[str]:
    listed = response.get("x-problems")
    media = response.get("content", {}).get("application/problem+json", {})
    return list(listed if listed is not None else media.get("examples", {}))


def _words(path: str, method: str, each: Json) -> str:
    told = (method, path, each["operationId"], each.get("summary", ""), each.get("x-permission"))
    return " ".join(str(one) for one in told if one).lower()


def _method(method: str) -> str:
    return f'<b class="method {method}">{method.upper()}</b>'


def _short(tag: str) -> str:
    """`Billing / Invoice` is `Invoice` on Billing's page."""
    return tag.rpartition(" / ")[2]


def _anchor(tag: str) -> str:
    return escape(tag.lower().replace(" / ", "-").replace(" ", "-"))
