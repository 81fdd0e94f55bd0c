"""Documents of tenders and the requirements that people capture from them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typst
from tests.domains.opportunity.test_releases import CAPTURED
from tests.factories.opportunity_sources import TODAY, Desk
from tests.providers.etenders import FILES, Etenders
from tests.suites.test_pdf_text import GREY, encrypted, made

from thenga.domains.opportunity.tables import Document, TenderOpportunity
from thenga.tooling.dev import servers

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


@pytest.fixture(scope="module")
def clamd(home: Path) -> Iterator[None]:
    """ClamAV beside the other servers of this run."""
    servers.start(home, "clamav")
    yield
    servers.stop(home, "clamav")


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


@pytest.mark.rule("OPP-21", "OPP-22", "OPP-23")
async def test_documents_are_fetched_scanned_and_read(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    feed.files |= {
        "/text.pdf": (200, PDF, TEXT),
        "/scan.pdf": (200, PDF, SCAN),
        "/locked.pdf": (200, PDF, encrypted(made())),
        "/page.pdf": (200, PDF, b"<!doctype html><html><body>Sign in</body></html>"),
    }
    here = f"https://{FILES}"
    urls = (
        *(f"{here}/text.pdf", f"{here}/scan.pdf", f"{here}/locked.pdf", f"{here}/page.pdf"),
        *(f"{here}/gone.pdf", "https://elsewhere.example/a.pdf", "https://127.0.0.1/a.pdf"),
    )

    tender = await tender_with(desk, feed, *urls)
    await desk.after(timedelta(minutes=10))

    rows = {document.url: document for document in await desk.all(Document)}
    found = [rows[url] for url in urls]
    states = [
        found[0].text_state.value,
        found[1].text_state.value,
        found[2].text_state.value,
        found[3].reason_code,
        *(document.fetch_state.value for document in found[4:]),
    ]
    print(f"states={states} tripwire_hits={feed.tripped}")
    assert states == [
        *("extracted", "needs_ocr", "unsupported", "not_a_document"),
        *("gone", "refused", "refused"),
    ]
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


@pytest.mark.rule("OPP-24", "OPP-26")
async def test_requirement_must_stand_on_the_page_it_cites(
    feed: Etenders, desk: Desk, clamd: None
) -> None:
    feed.files["/text.pdf"] = (200, PDF, TEXT)
    tender = await tender_with(desk, feed, f"https://{FILES}/text.pdf")
    await desk.after(timedelta(minutes=1))
    (document,) = await desk.all(Document)
    path = f"/opportunities/{tender.id}/requirements"
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

    wrong = await desk.call("POST", path, **asked)
    right = asked | {"citation": asked["citation"] | {"page": 2}}
    captured = await desk.call("POST", path, **right)

    assert wrong.json()["code"] == "opportunity-citation-not-found"
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
