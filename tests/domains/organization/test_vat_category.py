"""The VAT category: one of five letters, and only of a company that is registered for VAT."""

from typing import Any

import httpx2
import pytest

from tests.domains.organization.companies import Company, company
from tests.planting import plant
from thenga.domains.organization.services.facts import _stating
from thenga.kernel.process.host import Host

SUGGESTED: dict[str, Any] = {
    "target": {"factKey": "vatCategory"},
    "proposedValue": "B",
    "confidence": 0.8,
    "sources": [{"reference": "document 7"}],
    "producedBy": {"name": "profile-reader", "version": "3.1"},
}


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host)


async def taken(mokoena: Company) -> list[str]:
    """What is accepted although the category and the registration do not agree."""
    suggested = await mokoena.post("/fact-suggestions", SUGGESTED)
    accept = f"/fact-suggestions/{suggested.json()['id']}/accept"
    answers = {
        "suggested": await mokoena.post(accept, {}),
        "unknown": await mokoena.patch({"vatCategory": "A"}),
        "unregistered": await mokoena.patch({"vatRegistered": False, "vatCategory": "A"}),
        "both": await mokoena.patch({"vatRegistered": True, "vatCategory": "A"}),
        "deregistered": await mokoena.patch({"vatRegistered": False}),
        "withdrawn": await mokoena.patch({"vatRegistered": None}),
        "elsewhere": await mokoena.patch({"employeeCount": 12}),
    }
    return [name for name, answer in answers.items() if answer.status_code == 200]


@pytest.mark.rule("ORG-11")
async def test_only_a_registered_company_has_a_vat_category(mokoena: Company):
    assert await taken(mokoena) == ["both", "elsewhere"]

    ended = await mokoena.patch({"vatRegistered": False, "vatCategory": None})

    assert (ended.status_code, (await mokoena.fact("vatCategory"))["value"]) == (200, None)


@pytest.mark.rule("ORG-11")
async def test_a_planted_category_without_registration_is_found(
    mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    async def agrees(*_: Any) -> None:
        return None

    plant(monkeypatch, _stating, "vat_agrees", agrees)

    assert {"unknown", "suggested", "deregistered"} <= set(await taken(mokoena))


async def test_a_vat_category_is_one_of_five_letters(mokoena: Company):
    await mokoena.patch({"vatRegistered": True})

    refused = [(await mokoena.patch({"vatCategory": one})).status_code for one in ("F", "a", 1)]
    stated = [(await mokoena.patch({"vatCategory": one})).status_code for one in "ABCDE"]

    assert (refused, stated) == ([422] * 3, [200] * 5)
    assert (await mokoena.fact("vatCategory"))["value"] == "E"
