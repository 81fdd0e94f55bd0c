"""Entrances for nobody known who reads, and for staff who say why they look."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2
import orjson
import pytest

from tests.conftest import Opening
from tests.factories import identity as people
from tests.kernel.serving import serving
from tests.parties import MIGRATIONS, Listing, Note, Offer, Tender
from tests.parties.routes import DOMAIN
from tests.planting import plant
from thenga.kernel.access.actors import Scope
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted
from thenga.kernel.http.entrances import headers
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

REASON = "Ticket 4711: «why is my quote not there?»"


@pytest.fixture(scope="module")
async def parties(settings: Settings, seeded: None) -> AsyncIterator[httpx2.AsyncClient]:
    migrate(settings, [Migrated("parties", MIGRATIONS)])
    apart = {"auth_address_per_minute": 60, "redis": settings.redis.replace("/0", "/3")}
    async with serving(settings.model_copy(update=apart), DOMAIN) as client:
        yield client


@pytest.fixture
async def company(host: Host, opening: Opening, parties: httpx2.AsyncClient) -> UUID:
    """A company with a listing, and with an offer, a note and a tender that are not public."""
    made = uuid4()
    await people.mirror(host, made)
    work = opening.work(made, "parties")
    await work.add(Listing(organization_id=made, code=f"c-{made}", text="Cranes for hire"))
    offer = await work.add(Offer(organization_id=made, text="canary offer"))
    await work.add(Note(organization_id=made, offer_id=offer.id, text="canary note"))
    await work.add(Tender(organization_id=made, text="canary tender"))
    await work.finish()
    return made


# --- nobody known -----------------------------------------------------------------------------


async def test_anyone_reads_what_is_published_and_nothing_else(
    parties: httpx2.AsyncClient, company: UUID, monkeypatch: pytest.MonkeyPatch
):
    page = await parties.get(f"/parties/listings/c-{company}")
    missing = await parties.get("/parties/listings/no-such-code")
    opening = Scope.opening

    def for_the_company(scope: Scope) -> str:
        scope.organization_id = company
        return opening(scope)

    monkeypatch.setattr(Scope, "opening", for_the_company)
    planted = await parties.get(f"/parties/listings/c-{company}")

    assert (page.status_code, missing.status_code) == (200, 404)
    assert page.json() == {"text": "Cranes for hire", "privateRows": 0}
    assert planted.json()["privateRows"] == 3


async def test_anyone_who_reads_too_much_is_limited_by_address(
    parties: httpx2.AsyncClient, company: UUID
):
    # The limit of links is a sixth of that of sign-in: 10 a minute.
    path = f"/parties/listings/c-{company}"

    answers = [(await parties.get(path)).status_code for _ in range(12)]

    assert answers[-1] == 429
    assert set(answers) == {200, 429}


# --- staff say why ----------------------------------------------------------------------------


async def audited(host: Host, company: UUID) -> list[dict[str, Any]]:
    """The audit rows of looks at a company, in order."""
    async with host.engines.connection("parties", "parties_system") as connection:
        rows = await connection.fetch(
            "SELECT entry FROM parties.audit_entry WHERE organization_id = $1 "
            "AND entry::jsonb -> 'target' ->> 'id' = $2 ORDER BY id",
            company,
            str(company),
        )
    return [orjson.loads(row["entry"]) for row in rows]


async def test_staff_say_why_they_look_and_it_stays_in_the_audit_trail(
    parties: httpx2.AsyncClient, host: Host, company: UUID
):
    staff = await people.staff(host, "platform_support")
    path = f"/parties/{company}/inspected-offers"
    said = staff.headers | {"X-Admin-Reason": quote(REASON)}

    looked = await parties.get(path, headers=said)
    silent = await parties.get(path, headers=staff.headers)

    (kept,) = await audited(host, company)
    (error,) = silent.json()["errors"]
    assert (looked.status_code, looked.json()) == (200, {"offers": 1, "reason": REASON})
    assert kept["reason"] == REASON
    assert (silent.status_code, silent.json()["code"]) == (422, "validation-failed")
    assert (error["pointer"], error["code"]) == ("/header/X-Admin-Reason", "missing")


@pytest.mark.parametrize(
    "sent",
    [
        "too short",
        quote("ü" * 501),
        "%FF%FE is no UTF-8 at all",
        quote("two\nlines of text"),
        "ö" * 20,
    ],
    ids=["short", "long", "not UTF-8", "control character", "not encoded"],
)
async def test_a_reason_that_cannot_be_kept_is_refused(
    parties: httpx2.AsyncClient, host: Host, company: UUID, sent: str
):
    staff = await people.staff(host, "platform_support")
    said = staff.headers | {"X-Admin-Reason": sent.encode("latin-1")}

    answer = await parties.get(f"/parties/{company}/offers", headers=said)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "reason"
    assert await audited(host, company) == []


async def test_a_reason_is_optional_for_staff_and_ignored_of_customers(
    parties: httpx2.AsyncClient, host: Host, company: UUID
):
    staff = await people.staff(host, "platform_support")
    owner = await people.member(host, company, role="owner")
    path = f"/parties/{company}/offers"

    by_staff = await parties.get(path, headers=staff.headers)
    by_owner = await parties.get(path, headers=owner.headers | {"X-Admin-Reason": quote(REASON)})

    assert (by_staff.status_code, by_staff.json()["reason"]) == (200, None)
    assert (by_owner.status_code, by_owner.json()["reason"]) == (200, None)
    assert [one.get("reason") for one in await audited(host, company)] == [None, None]


async def test_a_planted_reason_that_nobody_asks_for_is_found(
    parties: httpx2.AsyncClient, host: Host, company: UUID, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, headers, "reason_of", lambda *_, **__: None)
    staff = await people.staff(host, "platform_support")

    answer = await parties.get(f"/parties/{company}/inspected-offers", headers=staff.headers)

    assert answer.status_code == 200
    assert [one.get("reason") for one in await audited(host, company)] == [None]


def test_the_document_tells_staff_of_the_reason() -> None:
    made = document(mounted([DOMAIN]).routes, [DOMAIN])

    def said(path: str) -> list[str]:
        listed = made["paths"][f"/v1/parties{path}"]["get"].get("parameters", [])
        return [one["$ref"].rpartition("/")[2] for one in listed if "Admin" in str(one)]

    shared = made["components"]["parameters"]
    assert said("/listings/{code}") == []
    assert said("/{organizationId}/offers") == ["X-Admin-Reason"]
    assert said("/{organizationId}/inspected-offers") == ["X-Admin-Reason-Required"]
    assert [shared[name]["required"] for name in shared if "Admin" in name] == [False, True]
