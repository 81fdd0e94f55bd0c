"""OCDS releases of eTenders, read with their faults."""

import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from tests.planting import plant

from thenga.domains.opportunity.services import releases
from thenga.domains.opportunity.services.releases import cleaning
from thenga.domains.opportunity.services.sources.walking import Walk, windows_between
from thenga.domains.opportunity.values.feeds import FeedClock
from thenga.tooling.dev.sample_tenders import sample_releases

RECEIVED = datetime(2026, 8, 15, tzinfo=UTC)
CAPTURED: dict[str, Any] = {
    "ocid": "ocds-9t57fa-165050",
    "id": "ocds-9t57fa-165050-2026-08-14",
    "date": "2026-08-14T00:00:00Z",
    "tag": ["compiled"],
    "initiationType": "tender",
    "language": "en-za",
    "planning": {"rationale": "", "budget": {"description": " - "}, "documents": []},
    "parties": [],
    "buyer": {"id": "320", "name": "Kwazulu Natal - Public Works (Head Office)"},
    "tender": {
        "id": "165050",
        "title": "ZNTM01266W",
        "description": "Nositha Clinic: Upgrade of the sewer system : 5GB",
        "status": "active",
        "category": "Sewerage",
        "province": "KwaZulu-Natal",
        "deliveryLocation": "1 Hospital Street - Nositha - Port Shepstone - 4240",
        "specialConditions": "The 80/20 system applies.\r\nBidders register on the CSD.",
        "mainProcurementCategory": "works",
        "additionalProcurementCategories": ["works"],
        "value": {"amount": 0, "currency": "ZAR"},
        "tenderPeriod": {
            "startDate": "2026-08-14T00:00:00Z",
            "endDate": "2026-09-16T11:00:00Z",
        },
        "procurementMethod": "open",
        "procurementMethodDetails": "Request for Bid(Open-Tender)",
        "procuringEntity": {"id": "320", "name": "Kwazulu Natal - Public Works (Head Office)"},
        "briefingSession": {
            "isSession": True,
            "compulsory": True,
            "date": "2026-08-25T11:00:00Z",
            "venue": "Nositha Clinic",
        },
        "contactPerson": {"name": "SCM", "email": "scm@buyer.example", "faxNumber": "N/A"},
        "documents": [
            {
                "id": "7f1c7f7e-0000-4000-8000-000000000001",
                "documentType": "basic",
                "title": "Bill of Quantities.pdf",
                "url": "https://www.etenders.gov.za/Home/Download/?blobName=7f1c.pdf",
                "datePublished": "2026-08-14T09:15:00Z",
                "dateModified": "0001-01-01T00:00:00Z",
                "format": "pdf",
            }
        ],
        "tenderers": [],
    },
    "awards": [],
    "contracts": [],
}


def read(**tender: Any) -> Any:
    release = CAPTURED | {"tender": CAPTURED["tender"] | tender}
    return releases.normalise(release, FeedClock(), received_at=RECEIVED)


def codes(reading: Any) -> set[str]:
    return {line.code for line in reading.report}


@pytest.mark.rule("OPP-7")
def test_captured_release_is_read_with_its_faults() -> None:
    reading = read()

    notice = reading.notice
    assert (notice.tender_number, notice.ocid) == ("ZNTM01266W", "ocds-9t57fa-165050")
    assert notice.title == "Nositha Clinic: Upgrade of the sewer system : 5GB"
    assert notice.closing_at == datetime(2026, 9, 16, 9, tzinfo=UTC)
    assert (notice.closing_raw, notice.closing_confidence) == ("2026-09-16T11:00:00Z", "derived")
    assert notice.briefing.starts_at == datetime(2026, 8, 25, 9, tzinfo=UTC)
    assert notice.briefing.compulsory
    assert (notice.amount_minor, notice.provinces) == (None, ("KZN",))
    assert (notice.buyer_sphere, notice.buyer_regime) == ("provincial", "pfma")
    assert notice.classifications[0] == ("UNSPSC", "72141100")
    assert codes(reading) == {
        *("sast_relocalised", "number_in_title", "placeholder_cleared", "language_cleaned"),
        "needs_in_documents",
    }


VECTORS: list[tuple[dict[str, Any], str, str, Any]] = [
    ({"title": "DEV 05/2026/27", "description": "DEV 05/2026/27 - SUPPLY, DELIVERY"},
     "number_prefix_cut", "title", "SUPPLY, DELIVERY"),
    ({"briefingSession": {"isSession": True, "date": "0001-01-01T00:00:00Z"}},
     "null_date", "briefing", None),
    ({"deliveryLocation": " - "}, "placeholder_cleared", "delivery_text", None),
    ({"contactPerson": {"telephoneNumber": "000-000-0000"}},
     "placeholder_cleared", "contact_phone", None),
    ({"province": "Limpopo"}, "province_conflict", "provinces", ("LP", "KZN")),
    ({"category": "Tourism development"}, "category_unmapped", "classifications", ()),
    ({"category": ""}, "category_empty", "category_text", None),
    ({"status": "complete"}, "award_unknown", "awards", ()),
    ({"tenderPeriod": {"endDate": "2026-08-01T11:00:00Z"}}, "status_overrun",
     "closing_at", datetime(2026, 8, 1, 9, tzinfo=UTC)),
    ({"tenderPeriod": {"endDate": "2026-09-16T00:00:00Z"}}, "number_in_title",
     "closing_at", datetime(2026, 9, 15, 22, tzinfo=UTC)),
    ({"tenderPeriod": {"endDate": "2026-09-16T00:00:00Z"}}, "number_in_title",
     "closing_precision", "day"),
    ({"tenderPeriod": {}}, "closing_missing", "closing_confidence", "unknown"),
    ({"value": {"amount": 1250000.5, "currency": "ZAR"}}, "number_in_title",
     "amount_minor", 125000050),
]  # fmt: skip


def misread() -> list[tuple[str, str, Any]]:
    """The vectors that are read wrongly, with what was read instead."""
    failed = []
    for tender, code, name, wanted in VECTORS:
        reading = read(**tender)
        if code not in codes(reading) or getattr(reading.notice, name) != wanted:
            failed.append((code, name, getattr(reading.notice, name, None)))
    return failed


@pytest.mark.rule("OPP-7", "OPP-12", "OPP-13")
def test_every_fault_is_repaired_and_reported() -> None:
    failed = misread()

    print(f"normalise_vectors={len(VECTORS)} failed={len(failed)}")
    assert failed == []


def test_a_planted_belief_in_the_publishers_clock_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def believe(matched: re.Match[str], *_: Any, has_time: bool) -> cleaning.ReadTime:
        year, month, day, hour, minute, _ = (int(part or 0) for part in matched.groups()[:6])
        return cleaning.ReadTime(
            datetime(year, month, day, hour, minute, tzinfo=UTC), has_time, False
        )

    plant(monkeypatch, cleaning, "_read", believe)

    assert {name for _, name, _ in misread()} == {"closing_at"}


def test_a_planted_placeholder_taken_for_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, cleaning, "_PLACEHOLDERS", frozenset({""}))

    assert {name for _, name, _ in misread()} == {"delivery_text", "contact_phone"}


@pytest.mark.rule("OPP-8")
@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"ocid": None}, "/ocid", "ocid_missing"),
        ({"tender": {}}, "/tender", "tender_missing"),
        ({"buyer": {"name": ""}, "tender": {"status": "active"}}, "/buyer/name", "buyer_missing"),
        ({"date": "yesterday"}, "/date", "date_unreadable"),
        ({"awards": "none"}, "/awards", "shape_unknown"),
    ],
)
def test_unreadable_records_are_rejected(change: Any, pointer: str, code: str) -> None:
    reading = releases.normalise(CAPTURED | change, FeedClock(), received_at=RECEIVED)

    assert reading.notice is None
    assert (reading.report[-1].field, reading.report[-1].code) == (pointer, code)


@pytest.mark.rule("OPP-5", "OPP-14")
def test_hash_and_number_key_follow_their_vectors() -> None:
    release = {
        "buyer": {"id": "320"},
        "ocid": "ocds-9t57fa-165050",
        "tender": {
            "id": "165050",
            "status": "active",
            "tenderPeriod": {"endDate": "2026-09-16T11:00:00Z"},
        },
    }
    wanted = "1c17a1ffb10709831dd40b8d359d93357b461cee1e00152e18a1be7e214932fe"
    assert releases.content_hash(release) == wanted
    assert releases.content_hash(release | {"id": "x", "date": "2026-08-15"}) == wanted
    assert releases.number_key("SCM 045/2026") == releases.number_key("SCM45/2026")
    assert releases.number_key("SCM 045/2026") == "SCM-45-2026"
    assert releases.number_key("8/2/RNM0614") == "8-2-RNM-614"


@pytest.mark.rule("OPP-2")
def test_window_that_does_not_fit_is_halved_and_days_walked() -> None:
    walk = Walk(windows_between(date(2026, 11, 11), date(2026, 11, 17), days=7))

    full = [f"k{n}" for n in range(50)]
    walk = walk.after(full, has_next=False, page_size=50)
    assert [window.days for window in walk.waiting] == [4, 3]
    walk = Walk(walk.waiting[-1:]).after(["a"], has_next=True, page_size=50)
    assert [window.days for window in walk.waiting] == [2, 1]
    walk = Walk(walk.waiting[-1:]).after(full, has_next=True, page_size=50)
    assert (walk.page, Walk.of_row(walk.to_row())) == (2, walk)
    walk = walk.after(["b"], has_next=False, page_size=50)
    assert (walk.page, walk.passes) == (1, 1)
    for _ in range(2):
        walk = walk.after(full, has_next=True, page_size=50)
        walk = walk.after(["b"], has_next=False, page_size=50)
    assert walk.window is None


def test_sample_has_the_faults_of_the_portal() -> None:
    made = sample_releases(date(2026, 11, 17))

    read_all = [releases.normalise(one, FeedClock(), received_at=RECEIVED) for one in made]
    found = set().union(*(codes(one) for one in read_all))
    rejected = sum(one.is_rejected for one in read_all)
    print(f"sample={len(made)} rejected={rejected} codes={len(found)}")
    assert len(made) >= 200
    assert rejected == 0
    assert made == sample_releases(date(2026, 11, 17))
    assert {"province_conflict", "number_prefix_cut", "null_date", "category_empty"} <= found
