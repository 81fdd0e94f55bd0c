"""Sample tenders in the shape of real eTenders releases, with their faults; written by us.

Composed of buyers, subjects and places in `content/sample.json`; no person and no company in them
exists. The same day and number always give the same release.
"""

import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

COUNT = 240
_PREFIX = "ocds-9t57fa"
_FIRST = 900_001  # above any number that the portal has reached
_NO_DATE = "0001-01-01T00:00:00Z"
_STATUSES = ("active",) * 17 + ("complete", "cancelled", "unsuccessful")


def sample_releases(today: date, count: int = COUNT) -> list[dict[str, Any]]:
    """So many releases, published in the weeks before a day and closing around it."""
    package = files("thenga.domains.opportunity")
    parts = json.loads((package / "content" / "sample.json").read_text())
    return [_release(parts, number, today) for number in range(_FIRST, _FIRST + count)]


def _release(parts: dict[str, Any], number: int, today: date) -> dict[str, Any]:
    dice = random.Random(number)  # noqa: S311  # no secret: the same sample every time
    ocid = f"{_PREFIX}-{number}"
    published = today - timedelta(days=dice.randrange(1, 45))
    buyer = dice.choice(parts["buyers"])
    party = {"id": buyer["id"], "name": buyer["name"]}
    tender = _tender(parts, number, published, buyer, dice)
    return {
        "ocid": ocid,
        "id": f"{ocid}-{published.isoformat()}",
        "date": f"{published.isoformat()}T00:00:00Z",
        "tag": ["compiled"],
        "initiationType": "tender",
        "language": "en-za",
        "planning": {"rationale": "", "budget": {"description": " - "}, "documents": []},
        "buyer": party,
        "parties": [],
        "tender": tender | {"procuringEntity": party},
        "awards": _awards(tender["status"], number, published, dice),
        "contracts": [],
    }


def _tender(
    parts: dict[str, Any], number: int, published: date, buyer: dict[str, Any], dice: random.Random
) -> dict[str, Any]:
    province = buyer["province"] or dice.choice(sorted(parts["places"]))
    place = dice.choice(parts["places"][province])
    subject = dice.choice(parts["subjects"])
    named = _number(parts, number, published, dice)
    title = _title(parts, subject, place, dice)
    closing = published + timedelta(days=dice.randrange(14, 40))
    shown = dice.choice([*[province] * 19, "Limpopo"])  # the portal sometimes names another one
    return {
        "id": str(number),
        "title": named,
        "description": f"{named} - {title}" if dice.random() < 0.3 else title,
        "status": dice.choice(_STATUSES),
        "category": subject["category"] if dice.random() > 0.05 else "",
        "province": shown,
        "deliveryLocation": f"{dice.choice(parts['streets'])} - {place} - {place} - 0000",
        "specialConditions": dice.choice(parts["conditions"]),
        "mainProcurementCategory": subject["main"],
        "additionalProcurementCategories": [subject["main"]],
        "value": {"amount": _amount(dice), "currency": "ZAR"},
        "tenderPeriod": {
            "startDate": f"{published.isoformat()}T00:00:00Z",
            "endDate": f"{closing.isoformat()}T{dice.choice(('10', '11', '12', '00'))}:00:00Z",
        },
        "procurementMethod": "open",
        "procurementMethodDetails": "Request for Bid(Open-Tender)",
        "briefingSession": _briefing(published, place, dice),
        "contactPerson": {
            "name": "Supply Chain Management",
            "email": f"tenders{number % 97}@buyer.example",
            "telephoneNumber": dice.choice(("000-000-0000", "012 555 0100", "N/A")),
            "faxNumber": "N/A",
        },
        "documents": list(_documents(parts, number, published, dice)),
        "tenderers": [],
    }


def _number(parts: dict[str, Any], number: int, published: date, dice: random.Random) -> str:
    form: str = dice.choice(parts["numbers"])
    return form.format(
        prefix=dice.choice(parts["prefixes"]),
        serial=number % 1000,
        year=published.year,
        short=f"{published:%y}",
        next=f"{published.year + 1}"[2:],
    )


def _title(parts: dict[str, Any], subject: dict[str, Any], place: str, dice: random.Random) -> str:
    form: str = subject["title"]
    return form.format(
        n=dice.randrange(2, 13),
        g=dice.randrange(1, 8),
        place=place,
        school=dice.choice(parts["schools"]),
    )


def _amount(dice: random.Random) -> int:
    """Mostly 0, which is how the portal says that nobody named an amount."""
    return 0 if dice.random() < 0.8 else dice.randrange(250, 45_000) * 1000


def _briefing(published: date, place: str, dice: random.Random) -> dict[str, Any]:
    if dice.random() > 0.43:
        return {"isSession": False, "compulsory": False, "date": _NO_DATE, "venue": "N/A"}
    at = published + timedelta(days=dice.randrange(6, 12))
    return {
        "isSession": True,
        "compulsory": dice.random() < 0.83,
        "date": f"{at.isoformat()}T{dice.choice(('10', '11'))}:00:00Z",
        "venue": f"Council chamber, {place}",
    }


def _documents(
    parts: dict[str, Any], number: int, published: date, dice: random.Random
) -> Iterator[dict[str, Any]]:
    for title in parts["files"][: dice.randrange(1, 5)]:
        blob = random.Random(f"{number}{title}").randbytes(8).hex()  # noqa: S311  # as above
        yield {
            "id": f"{blob[:8]}-0000-4000-8000-{blob}0000"[:36],
            "documentType": "basic",
            "title": f"{title}.pdf",
            "description": title,
            "url": f"https://www.etenders.gov.za/Home/Download/?blobName={blob}.pdf",
            "datePublished": f"{published.isoformat()}T09:15:00Z",
            "dateModified": _NO_DATE,
            "format": "pdf",
            "language": "en-za",
        }


def _awards(status: str, number: int, published: date, dice: random.Random) -> list[dict[str, Any]]:
    """Some complete tenders name who won, and many do not."""
    if status != "complete" or dice.random() < 0.5:
        return []
    awarded = published + timedelta(days=30)
    return [
        {
            "id": f"{number}-1",
            "status": "active",
            "date": f"{awarded.isoformat()}T00:00:00Z",
            "suppliers": [{"id": "1", "name": "Sample Builders (Pty) Ltd"}],
            "value": {"amount": dice.randrange(300, 9000) * 1000, "currency": "ZAR"},
        }
    ]
