"""What other domains ask of Organization: the same in this process and over the wire."""

from collections.abc import AsyncIterator
from datetime import date
from typing import Any, TypeVar
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from tests.domains.organization.companies import BANK, Company, company
from tests.factories import organization as factory
from tests.planting import plant
from tests.through_json import through_json
from thenga.domains.organization import public
from thenga.domains.organization.services.organizations import profiles as profiles_service
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import NotFound, RuleViolated, ValidationFailed
from thenga.kernel.http.port_routes import routes
from thenga.kernel.ports.remote import remote
from thenga.kernel.process.host import Host

P = TypeVar("P", bound=Port)
SECRET = b"k" * 32
PORTS = (public.Profiles, public.Suggestions, public.Verifications, public.Disclosures)
PRODUCER = public.Producer(name="profile-reader", version="3.1")


class Asked:
    """The ports of Organization by one of the two bindings."""

    def __init__(self, app: FastAPI, client: httpx2.AsyncClient | None) -> None:
        self._host: Host = app.state.shared.host
        self._client = client

    def of(self, port: type[P]) -> P:
        local = self._host.bindings.of(port)
        if self._client is None:
            return through_json(port, local)
        now = self._host.now
        return remote(port, "http://ports.test", secret=SECRET, client=self._client, now=now)


@pytest.fixture(params=["in_process", "remote"])
async def asked(request: pytest.FixtureRequest, app: FastAPI) -> AsyncIterator[Asked]:
    if request.param == "in_process":
        yield Asked(app, None)
        return
    host: Host = app.state.shared.host
    served = Starlette(routes=routes(host.bindings, PORTS, SECRET, now=host.now))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=served)) as client:
        yield Asked(app, client)


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    place = await company(api, host)
    version = (await place.get()).headers["etag"]
    share = {"value": "51.00", "basis": "consent"}
    facts: dict[str, Any] = {"incomeTaxNumber": "0001339050", "blackOwnedPercent": share}
    stated = await place.patch(facts | {"employeeCount": 12, "bankAccount": BANK}, If_Match=version)
    assert stated.status_code == 200, stated.text
    return place


SEEN = {
    "display": {"public"},
    "match": {"public", "internal"},
    "reasoning": {"public", "internal"},
    "funding_application": {"public", "internal", "confidential"},
    "bid_form": {"public", "internal", "confidential", "special"},
    "compliance_check": {"public", "internal", "confidential", "special"},
}
BY_SENSITIVITY = {
    "legalName": "public",
    "employeeCount": "internal",
    "incomeTaxNumber": "confidential",
    "blackOwnedPercent": "special",
    "bankAccount": "secret",
}


async def too_much(asked: Asked, place: Company) -> list[str]:
    """What a purpose sees and must not, or does not see and should."""
    faults = []
    for purpose, allowed in SEEN.items():
        described = await asked.of(public.Profiles).describe(
            organization_id=place.id, purpose=purpose, fact_keys=list(BY_SENSITIVITY)
        )
        seen = {BY_SENSITIVITY[fact.key] for fact in described.facts}
        faults += [f"{purpose}: {one}" for one in seen ^ allowed]
    return faults


async def test_each_purpose_sees_what_it_may_and_secrets_never_leave(
    asked: Asked, mokoena: Company
):
    faults = await too_much(asked, mokoena)
    described = await asked.of(public.Profiles).describe(
        organization_id=mokoena.id, purpose="bid_form", fact_keys=["incomeTaxNumber"]
    )

    print(f"\npurposes={len(SEEN)} faults={len(faults)}")
    assert faults == []
    (tax,) = described.facts
    assert (tax.value, tax.provenance.kind) == ("******9050", "customer_supplied")
    assert tax.ref == public.Ref(type="fact", id=f"{mokoena.id}:incomeTaxNumber", version=1)


async def test_a_purpose_that_sees_secrets_would_be_found(
    asked: Asked, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    wide = profiles_service.PURPOSES | {"display": frozenset(SEEN["bid_form"] | {"secret"})}
    plant(monkeypatch, profiles_service, "PURPOSES", wide)

    assert "display: secret" in await too_much(asked, mokoena)


async def test_records_and_disclosed_values_arrive_alike(asked: Asked, mokoena: Company):
    made = await factory.equipment(mokoena.host, mokoena.id, mokoena.owner.user_id)
    profiles = asked.of(public.Profiles)

    described = await profiles.describe(
        organization_id=mokoena.id, purpose="match", record_types=["equipment"]
    )
    (machine,) = described.records
    (cited,) = await profiles.resolve(refs=[machine.ref], organization_id=mokoena.id)
    (told,) = await asked.of(public.Disclosures).reveal(
        organization_id=mokoena.id,
        subjects=[public.Ref(type="fact", id=f"{mokoena.id}:bankAccount", version=1)],
        fields=["bankAccount"],
        purpose="invoice",
        reference=public.DisclosureReference(domain="contract", type="invoice", id=uuid4()),
        on_behalf_of=mokoena.owner.user_id,
        key="invoice 1",
    )

    assert machine.ref == public.Ref(type="equipment", id=str(made.id), version=1)
    assert (machine.summary["name"], cited.state) == ("TLB", "live")
    assert told.values == {"bankAccount": BANK}


async def test_an_unknown_company_is_not_described_and_has_no_card(asked: Asked, mokoena: Company):
    profiles = asked.of(public.Profiles)

    with pytest.raises(NotFound):
        await profiles.describe(organization_id=uuid4(), purpose="display")
    cards = await profiles.cards(organization_ids=[mokoena.id, uuid4()])
    strange = await profiles.resolve(
        refs=[
            public.Ref(type="fact", id=f"{uuid4()}:legalName", version=1),
            public.Ref(type="fact", id="not a fact", version=1),
        ]
    )
    with pytest.raises(ValidationFailed):
        await profiles.cards(organization_ids=[uuid4()] * 201)

    assert [card.organization_id for card in cards] == [mokoena.id]
    assert cards[0].legal_form == "private_company"
    assert [one.state for one in strange] == ["forbidden", "forbidden"]


@pytest.mark.rule("ORG-5")
async def test_a_suggestion_with_one_key_is_taken_once(asked: Asked, mokoena: Company):
    port = asked.of(public.Suggestions)
    given: dict[str, Any] = {
        "organization_id": mokoena.id,
        "key": f"run {uuid4()}",
        "fact_key": "employeeCount",
        "value": 17,
        "confidence": 0.9,
        "sources": [public.SuggestionSource(reference="document 7")],
        "produced_by": PRODUCER,
    }

    first, again = await port.propose(**given), await port.propose(**given)
    with pytest.raises(RuleViolated):
        await port.propose(**given | {"key": "bank", "fact_key": "bankAccount", "value": BANK})
    with pytest.raises(ValidationFailed):
        await port.propose(**given | {"key": "none", "sources": []})

    assert (first.created, again.created) == (True, False)
    assert first.suggestion_id == again.suggestion_id
    assert len(await mokoena.told("OrganizationFactSuggested")) == 1


@pytest.mark.rule("ORG-6")
async def test_a_check_with_one_key_is_written_down_once(asked: Asked, mokoena: Company):
    port = asked.of(public.Verifications)
    given: dict[str, Any] = {
        "organization_id": mokoena.id,
        "key": f"check {uuid4()}",
        "fact_key": "employeeCount",
        "outcome": "verified",
        "method": "document",
        "source": {"reference": "document 7"},
    }

    first, again = await port.record(**given), await port.record(**given)
    described = [
        await asked.of(public.Profiles).describe(
            organization_id=mokoena.id, purpose="match", fact_keys=["employeeCount"], on=on
        )
        for on in (None, date(2199, 1, 1))
    ]
    detail = await mokoena.fact("employeeCount")

    assert first.verification_id == again.verification_id
    assert (first.verification_status, first.fact_version) == ("verified", 2)
    proven = [(one.facts[0].verification_status, one.facts[0].stale) for one in described]
    assert proven == [("verified", False), ("expired", True)]
    assert (detail["verificationStatus"], len(detail["verifications"])) == ("verified", 1)
