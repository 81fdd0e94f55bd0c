"""The OpenAPI document, the recorded examples in it, and the pages beside `/v1`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from fastapi import FastAPI

from tests import filed
from tests.documented import whole_document
from tests.kernel.paper import paper
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS, NotFound
from thenga.kernel.http.document import published
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import SameName, mounted, operations
from thenga.kernel.http.document.pages import page_routes
from thenga.kernel.http.document.published import Library
from thenga.kernel.http.document.refusals import schema_name
from thenga.kernel.http.document.schema_tables import kind
from thenga.kernel.process.settings import Settings
from thenga.tooling.testing.recording import Recorder, stable

SHEET = {"id": "0f8fad5b-d9cb-469f-a165-70867728950e", "createdAt": "2031-01-01T10:00:00.5Z"}


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    return paper(tmp_path)


@pytest.fixture
def browser(domain: Domain) -> httpx2.AsyncClient:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(
        page_routes(Library([domain], settings=Settings(), ready=published.make([domain])))
    )
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


def _made(*domains: Domain) -> dict[str, Any]:
    return document(mounted(domains).routes, domains)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _found(made: dict[str, Any], reference: str) -> Any:
    place: Any = made
    for step in reference.removeprefix("#/").split("/"):
        place = place[step]
    return place


def test_files_are_described_as_bytes() -> None:
    content = _made(filed.DOMAIN)["paths"]["/v1/filed/papers/{paperId}/content"]

    (sent,) = content["put"]["requestBody"]["content"].items()
    assert sent == ("*/*", {"schema": {"type": "string", "format": "binary"}})
    assert content["put"]["requestBody"]["required"]
    assert "*/*" in content["get"]["responses"]["200"]["content"]


def test_an_operation_is_named_after_its_function(domain: Domain) -> None:
    paths = _made(domain)["paths"]

    assert paths["/v1/paper/sheets"]["post"]["operationId"] == "paper.paper.writeSheet"
    assert paths["/v1/paper/sheets"]["get"]["operationId"] == "paper.paper.listSheets"
    assert paths["/v1/paper/sheets"]["post"]["summary"] == "Write sheet"
    assert paths["/v1/paper/sheets"]["post"]["x-permission"] == "paper:sheet:write"
    assert paths["/v1/paper/sheets"]["post"]["security"] == [{"bearer": []}]


def test_two_operations_cannot_share_a_name(domain: Domain, tmp_path: Path) -> None:
    with pytest.raises(SameName, match="name the functions apart"):
        operations([domain, paper(tmp_path)])


def test_every_reference_leads_somewhere(domain: Domain) -> None:
    made = _made(domain)

    references = set(_references(made))

    assert "#/components/schemas/Problem" in references
    assert all(_found(made, reference) for reference in references)


def test_the_form_of_the_framework_is_not_promised(domain: Domain) -> None:
    assert "HTTPValidationError" not in json.dumps(_made(domain))


def test_a_problem_example_fits_the_problem_schema(domain: Domain) -> None:
    made = _made(domain)
    components = made["components"]

    registry = jsonschema_rs.Registry([("urn:paper", made)])
    for code, example in components["examples"].items():
        schema = {"$ref": f"urn:paper#/components/schemas/{schema_name(PROBLEMS[code])}"}
        jsonschema_rs.validator_for(schema, registry=registry).validate(example["value"])
    assert len(components["examples"]) > 20
    assert components["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_a_stranger_finds_the_beginning(domain: Domain) -> None:
    made = _made(domain)

    told = made["info"]["description"]

    assert all(word in told for word in ("Bearer", "Idempotency-Key", "cursor", "/problems"))
    assert made["tags"][0]["name"] == "Paper / Sheet"
    assert made["tags"][0]["description"].startswith("A domain that exists on paper only")


def test_the_document_of_all_domains_can_be_made() -> None:
    made = whole_document()

    assert all(_found(made, reference) for reference in set(_references(made)))
    assert [tag["name"] for tag in made.get("tags", []) if not tag["description"]] == []


def test_a_recorded_exchange_becomes_the_example(domain: Domain) -> None:
    recorder = Recorder([domain])
    answer = httpx2.Response(201, json=SHEET | {"title": "Plan", "version": 1})

    recorder.note("POST", "/v1/paper/sheets", b'{"title": "Plan"}', answer)
    recorder.note("POST", "/v1/paper/sheets", b'{"title": "Later"}', answer)
    written = recorder.write()

    operation = _made(domain)["paths"]["/v1/paper/sheets"]["post"]
    shown = operation["responses"]["201"]["content"]["application/json"]["example"]
    assert written == ["write_sheet"]
    assert operation["requestBody"]["content"]["application/json"]["example"] == {"title": "Plan"}
    assert shown["id"] == "019a0000-0000-7000-8000-000000000001"
    assert shown["createdAt"] == "2031-01-01T10:00:00Z"


def test_a_refusal_and_an_empty_page_are_poor_examples(domain: Domain) -> None:
    recorder = Recorder([domain])
    full = {"items": [SHEET], "nextCursor": "eyJhIjoxfQ"}

    recorder.note("GET", "/v1/paper/sheets", b"", httpx2.Response(401, json={}))
    recorder.note("GET", "/v1/paper/sheets", b"", httpx2.Response(200, json={"items": []}))
    recorder.note("GET", "/v1/paper/sheets", b"", httpx2.Response(200, json=full))
    recorder.write()

    example = json.loads((domain.home / "content/examples.json").read_text())["list_sheets"]
    assert len(example["response"]["items"]) == 1
    assert example["response"]["nextCursor"] == "sample-cursor"


async def test_a_client_records_by_its_response_hook(domain: Domain) -> None:
    recorder = Recorder([domain])

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=SHEET)

    hooks = {"response": [recorder.noting]}
    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(
        transport=transport, event_hooks=hooks, base_url="http://test"
    ) as client:
        await client.get(f"/v1/paper/sheets/{SHEET['id']}")

    assert recorder.write() == ["read_sheet"]


def test_what_differs_between_runs_is_replaced() -> None:
    def run(number: int) -> Any:
        return stable(
            {
                "request": {"email": f"a{number}@corp.test", "password": f"p{number}"},
                "status": 200,
                "response": {
                    "id": f"0f8fad5b-d9cb-469f-a165-{number:012}",
                    "self": f"/v1/x/0f8fad5b-d9cb-469f-a165-{number:012}",
                    "accessToken": f"tha_{number:020}",
                    "tokenType": "Bearer",
                    "secret": f"s{number}",
                    "recoveryCodes": [f"{number}-1", f"{number}-2"],
                    "createdAt": f"2030-01-31T08:30:0{number}.{number}Z",
                    "expiresAt": f"2030-01-31T08:45:0{number}.{number}Z",
                    "period": {"start": "2030-01-31", "end": "2030-02-28"},
                    "hash": f"{number:064x}",
                    "name": f"Crane 6975747{number}ed34",
                },
            }
        )

    assert run(1) == run(2)
    told = run(1)["response"]
    assert told["self"] == f"/v1/x/{told['id']}"
    # What belongs together stays together: a quarter of an hour, and a month.
    assert (told["createdAt"], told["expiresAt"]) == (
        *("2030-01-31T08:30:00Z", "2030-01-31T08:45:00Z"),
    )
    assert told["period"] == {"start": "2030-01-31", "end": "2030-02-28"}
    assert (told["tokenType"], told["accessToken"]) == ("Bearer", "tha_" + "sample" * 4)


async def test_the_document_is_served(browser: httpx2.AsyncClient) -> None:
    response = await browser.get("/openapi.json")

    assert response.json()["openapi"] == "3.1.0"


async def test_the_first_page_leads_to_the_reference(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/")

    assert (answer.status_code, answer.headers["location"]) == (307, "/docs")


async def test_the_reference_page_needs_no_outside_host(browser: httpx2.AsyncClient) -> None:
    for address in ("/docs", "/docs/paper"):
        page = await browser.get(address)
        sources = re.findall(r'(?:href|src)="([^"#]+)', page.text)
        for source in set(sources):
            assert (await browser.get(source)).status_code == 200, source
        assert {"/docs/assets/page.css", "/docs/assets/find.js"} <= set(sources)
        assert "://" not in page.text
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


async def test_the_reference_page_shows_who_an_operation_is_for(
    browser: httpx2.AsyncClient,
) -> None:
    page = await browser.get("/docs/paper")

    assert "audience: <code>tenant</code>" in page.text


def test_years_are_written_without_a_comma() -> None:
    years = {"type": "integer", "minimum": 1950, "maximum": 2100}

    assert kind({}, years) == "integer, 1950 to 2100"
    assert kind({}, years | {"maximum": 100_000}) == "integer, 1950 to 100,000"


async def test_no_path_leads_out_of_the_assets(browser: httpx2.AsyncClient) -> None:
    with pytest.raises(NotFound):
        await browser.get("/docs/assets/introduction.md")


async def test_a_problem_is_told_to_people_and_to_programs(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/problems/stale-version")
    told = await browser.get("/problems/stale-version", headers={"Accept": "application/json"})
    both = await browser.get("/problems", headers={"Accept": "application/json"})

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>This has changed since you read it</h1>" in page.text
    assert "<code>ETag</code>" in page.text
    assert told.json()["status"] == 412
    assert told.json() in both.json()["items"]
    with pytest.raises(NotFound):
        await browser.get("/problems/no-such-code")


async def test_the_events_are_told_to_people_and_to_programs(browser: httpx2.AsyncClient) -> None:
    page = await browser.get("/events", headers={"Accept": "text/html,application/json;q=0.5"})
    told = await browser.get("/events", headers={"Accept": "application/json"})

    assert 'id="paper.SheetWritten.v1"' in page.text
    assert "Somebody wrote on a sheet." in page.text
    assert told.json()["asyncapi"] == "3.0.0"
