"""Documents of tenders and the requirements that people capture from them."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest
import typst
from tests.domains.opportunity.test_releases import CAPTURED
from tests.factories.opportunity_sources import TODAY, Desk
from tests.planting import plant
from tests.providers.etenders import FILES, Etenders
from tests.suites.test_pdf_text import GREY, encrypted, made

from thenga.domains.opportunity.services.documents import documents
from thenga.domains.opportunity.services.requirements import citations
from thenga.domains.opportunity.tables import Document, FetchState, TenderOpportunity
from thenga.kernel.files import contents
from thenga.kernel.files.scanner import EICAR, Outcome, Verdict

SENTENCE = "Bidders must have a CIDB grading of 5GB or higher."
TEXT = bytes(
    typst.compile(f"#set page(width: 400pt)\nFirst page\n#pagebreak()\n{SENTENCE}".encode())
)
SCAN = bytes(
    typst.compile(
        f"#set page(width: 400pt, height: 300pt, margin: 0pt)\n#image(bytes(({GREY})), "
        'format: (encoding: "rgb8", width: 4, height: 3), width: 400pt)'.encode()
    )
)
PDF = "application/pdf"


async def tender_with(desk: Desk, feed: Etenders, *urls: str) -> TenderOpportunity:
    """A tender whose notice links to these documents."""
    linked = [{"id": f"d{n}", "title": url[-40:], "url": url} for n, url in enumerate(urls)]
    tender = CAPTURED["tender"] | {
        "documents": linked,
        "tenderPeriod": {"endDate": "2026-12-16T11:00:00Z"},
    }
    feed.publish(CAPTURED | {"date": f"{TODAY.isoformat()}T00:00:00Z", "tender": tender})
    await desk.active()
    (found,) = await desk.all(TenderOpportunity)
    return found


HERE = f"https://{FILES}"
LINKS = {
    f"{HERE}/text.pdf": "extracted",
    f"{HERE}/scan.pdf": "needs_ocr",
    f"{HERE}/locked.pdf": "unsupported",
    f"{HERE}/page.pdf": "not_a_document",
    f"{HERE}/gone.pdf": "gone",
    "https://elsewhere.example/a.pdf": "refused",
    "https://127.0.0.1/a.pdf": "refused",
}


async def fetched(
    feed: Etenders, desk: Desk, *urls: str
) -> tuple[TenderOpportunity, list[Document], list[str]]:
    """A tender with links to these addresses, their documents, and what became of each."""
    feed.files |= {
        "/text.pdf": (200, PDF, TEXT),
        "/scan.pdf": (200, PDF, SCAN),
        "/locked.pdf": (200, PDF, encrypted(made())),
        "/page.pdf": (200, PDF, b"<!doctype html><html><body>Sign in</body></html>"),
    }
    tender = await tender_with(desk, feed, *urls)
    await desk.after(timedelta(minutes=10))
    rows = {document.url: document for document in await desk.all(Document)}
    found = [rows[url] for url in urls]
    states = [_outcome(one) for one in found]
    print(f"states={states} tripwire_hits={feed.tripped}")
    return tender, found, states


def _outcome(document: Document) -> str:
    """The text that was read, or why there is none."""
    if document.fetch_state is FetchState.STORED:
        return document.text_state.value
    if document.reason_code == "not_a_document":
        return document.reason_code
    return document.fetch_state.value


@pytest.mark.rule("OPP-21", "OPP-22", "OPP-23")
async def test_documents_are_fetched_scanned_and_read(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    tender, found, states = await fetched(feed, desk, *LINKS)

    assert states == list(LINKS.values())
    assert feed.tripped == 0
    path = f"/opportunities/{tender.id}/documents"
    page = await desk.call("GET", f"{path}/{found[0].id}/content?page=2")
    assert (page.status_code, page.json()["quality"]) == (200, "native")
    assert SENTENCE in page.json()["text"]
    hits = await desk.call("GET", "/opportunities?q=grading&in=documents&visibility=own")
    assert [(hit["documentId"], hit["page"]) for hit in hits.json()["items"][0]["hits"]] == [
        (str(found[0].id), 2)
    ]
    whole = await desk.call("GET", f"{path}/{found[0].id}/content")
    assert whole.content == TEXT
    refused = await desk.call("GET", f"{path}/{found[2].id}/content")
    assert (refused.status_code, refused.json()["code"]) == (
        *(409,),
        "opportunity-document-unavailable",
    )


async def test_a_planted_list_of_every_host_is_found(
    feed: Etenders, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def every(*_: object) -> set[str]:
        return {FILES, "elsewhere.example", "127.0.0.1"}

    plant(monkeypatch, documents, "allowed_hosts", every)
    links = [url for url, state in LINKS.items() if state == "refused"]

    _, found, states = await fetched(feed, desk, *links)

    assert states != ["refused", "refused"]
    assert {one.reason_code for one in found} != {"host_not_allowed"}


async def served_infected(feed: Etenders, desk: Desk) -> list[int]:
    """How the bytes and a page of an infected document are answered."""
    feed.files["/bad.pdf"] = (200, PDF, TEXT + EICAR)
    tender, found, _ = await fetched(feed, desk, f"{HERE}/bad.pdf")
    path = f"/opportunities/{tender.id}/documents/{found[0].id}/content"
    answers = [await desk.call("GET", f"{path}{query}") for query in ("", "?page=2")]
    return [one.status_code for one in answers]


@pytest.mark.rule("OPP-21")
async def test_an_infected_document_is_never_served(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    assert await served_infected(feed, desk) == [409, 409]


async def test_a_planted_scanner_that_finds_nothing_is_found(
    feed: Etenders, desk: Desk, clamd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def believe(*_: object) -> Verdict:
        return Verdict(Outcome.CLEAN)

    plant(monkeypatch, contents, "_verdict", believe)

    assert await served_infected(feed, desk) == [200, 200]


async def cited(
    desk: Desk, feed: Etenders
) -> tuple[TenderOpportunity, dict[str, Any], httpx2.Response]:
    """A tender with a text, a requirement that cites the wrong page of it, and the answer."""
    feed.files["/text.pdf"] = (200, PDF, TEXT)
    tender = await tender_with(desk, feed, f"{HERE}/text.pdf")
    await desk.after(timedelta(minutes=1))
    (document,) = await desk.all(Document)
    asked: dict[str, Any] = {
        "class": "mandatory",
        "title": "CIDB 5GB",
        "criterion": {"kind": "cidb_grade", "class": "GB", "minGrade": 5},
        "citation": {
            "documentId": str(document.id),
            "page": 1,
            "excerpt": "cidb grading  of 5GB",
        },
    }
    path = f"/opportunities/{tender.id}/requirements"
    return tender, asked, await desk.call("POST", path, **asked)


async def test_a_planted_citation_that_nobody_checks_is_found(
    feed: Etenders, desk: Desk, clamd: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, citations, "stands_on", lambda *_: True)

    _, _, wrong = await cited(desk, feed)

    assert wrong.status_code == 201


@pytest.mark.rule("OPP-24", "OPP-26")
async def test_requirement_must_stand_on_the_page_it_cites(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    tender, asked, wrong = await cited(desk, feed)
    path = f"/opportunities/{tender.id}/requirements"
    right = asked | {"citation": asked["citation"] | {"page": 2}}
    captured = await desk.call("POST", path, **right)

    assert (wrong.status_code, wrong.json()["code"]) == (422, "opportunity-citation-not-found")
    assert captured.status_code == 201, captured.text
    shown = captured.json()
    read = await desk.call("GET", f"{path}/{shown['id']}")
    assert read.json() == shown
    assert (shown["gate"], shown["setVersion"], shown["status"]) == ("hard", 1, "active")
    told = await desk.events("TenderRequirementsChanged")
    assert [event["requirementSetVersion"] for event in told] == [1]
    assert told[0]["added"] == [shown["id"]]
    criterion = {"kind": "validity", "days": 90}
    await desk.call("POST", path, **{"class": "informational"}, title="Days", criterion=criterion)
    edit = {"criterion": {"kind": "cidb_grade", "class": "GB", "minGrade": 6}}
    edited = await desk.call("PATCH", f"{path}/{shown['id']}", **edit)
    assert edited.json()["criterion"]["minGrade"] == 6
    old = (await desk.call("GET", f"{path}?setVersion=2")).json()["items"]
    assert [one["criterion"].get("minGrade") for one in old] == [5, None]
    retired = await desk.call("PATCH", f"{path}/{shown['id']}", move="retire")
    assert retired.json()["status"] == "retired"
    (after,) = await desk.all(TenderOpportunity)
    assert (after.requirement_set_version, after.terms["validityDays"]) == (4, 90)


@pytest.mark.rule("OPP-26")
async def test_points_of_functionality_must_add_up(feed: Etenders, desk: Desk) -> None:
    tender = await tender_with(desk, feed)
    part = {"key": "team", "title": "Team", "points": "60"}
    criterion = {
        "kind": "functionality",
        "maxPoints": "100",
        "thresholdPoints": "70",
        "parts": [part],
    }

    body: dict[str, Any] = {"class": "scored", "title": "Functionality", "criterion": criterion}
    answer = await desk.call("POST", f"/opportunities/{tender.id}/requirements", **body)

    assert answer.json()["code"] == "opportunity-criterion-invalid"
