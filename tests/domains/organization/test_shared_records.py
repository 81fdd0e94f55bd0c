"""Records as other domains see them: by purpose, in force, and never with a sealed value."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import LargeBinary, true

from tests.domains.organization import directing
from tests.domains.organization.companies import Company, company
from tests.factories import identity as people
from tests.factories import organization as factory
from tests.planting import plant
from thenga.domains.organization import public
from thenga.domains.organization.services.organizations import profiles, shared_records
from thenga.domains.organization.services.organizations.shared_records import SHARED
from thenga.domains.organization.services.people import users
from thenga.domains.organization.tables import (
    Address,
    Capability,
    CapabilityStatus,
    CapabilityVerification,
    EquipmentStatus,
    MemberStatus,
    PastProject,
    PastProjectStatus,
    Product,
    ProductStatus,
    Service,
    ServiceStatus,
)
from thenga.kernel.errors import ValidationFailed
from thenga.kernel.process.host import Host

AUTHORITY = {
    "evidence_ref": {"domain": "compliance", "type": "document", "id": "1"},
    "valid_from": "2026-01-01",
    "valid_to": "2030-06-30",
    "limit": {"amount": "500000.00", "currency": "ZAR"},
}
PROJECT = {"title": "Resealing", "client_name": "Emfuleni", "started_on": date(2024, 2, 1)}
OFFER = {"name": "Road works", "price_from_minor": 100, "price_from_currency": "ZAR"}
UNTIL = datetime(2030, 1, 1, tzinfo=UTC)

OPEN = {"capability", "service", "product", "address"}
INSIDE = OPEN | {"past_project", "equipment", "director"}
ALL = INSIDE | {"contact", "user"}
TYPES = {
    "display": OPEN,
    "match": INSIDE,
    "reasoning": INSIDE,
    "funding_application": ALL,
    "bid_form": ALL,
    "compliance_check": ALL,
}
# One field of each sensitivity, and the purposes that see it.
_PERSONAL = {"funding_application", "bid_form", "compliance_check"}
FIELDS = {
    ("service", "name"): TYPES.keys(),
    ("service", "priceFrom"): TYPES.keys() - {"display"},
    ("past_project", "contractNumber"): _PERSONAL,
    ("director", "role"): TYPES.keys() - {"display"},
    ("director", "surname"): _PERSONAL,
    ("director", "flags"): {"bid_form", "compliance_check"},
}


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    """A company with one record of each type that is in force."""
    place = await company(api, host)
    here = (place.id, place.owner.user_id)
    await factory.record(
        host,
        Capability,
        *here,
        title="Roads",
        verification_status=CapabilityVerification.VERIFIED,
        verified_until=UNTIL,
    )
    shown = {"status": PastProjectStatus.PUBLISHED, "contract_number": "8/2"}
    await factory.record(host, PastProject, *here, **PROJECT, **shown)
    await factory.record(host, Service, *here, **OFFER, status=ServiceStatus.ACTIVE)
    await factory.record(host, Product, *here, **OFFER, status=ProductStatus.ACTIVE)
    await factory.equipment(host, *here)
    await factory.address(host, *here)
    await factory.contact(host, *here)
    added = await directing.add(api, place.owner)
    assert added.status_code == 201, added.text
    await factory.organization_user(host, *here, signing_authority=AUTHORITY)
    return place


async def described(
    app: FastAPI,
    place: Company,
    purpose: str,
    *types: str,
    on: date | None = None,
    after: UUID | None = None,
) -> public.ProfileView:
    port: public.Profiles = app.state.shared.host.bindings.of(public.Profiles)
    return await port.describe(
        organization_id=place.id,
        purpose=purpose,  # type: ignore[arg-type]  # each is one of the six
        fact_keys=["legalName"],
        record_types=list(types or SHARED),
        on=on,
        records_after=after,
    )


async def faults(app: FastAPI, place: Company) -> list[str]:
    """What a purpose sees of records and must not, or does not see and should."""
    found = []
    for purpose, types in TYPES.items():
        told = (await described(app, place, purpose)).records
        seen = {record.type: record.summary.keys() for record in told}
        found += [f"{purpose}: {name}" for name in seen.keys() ^ types]
        for (name, field), purposes in FIELDS.items():
            if (field in seen.get(name, ())) != (purpose in purposes):
                found.append(f"{purpose}: {name}.{field}")
    return found


async def test_each_purpose_sees_the_records_it_may(app: FastAPI, mokoena: Company):
    found = await faults(app, mokoena)

    print(f"\npurposes={len(TYPES)} types={len(SHARED)} faults={len(found)}")
    assert found == []


async def test_a_planted_purpose_that_sees_people_is_found(
    app: FastAPI, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    wide = profiles.PURPOSES | {"match": profiles.PURPOSES["bid_form"]}
    plant(monkeypatch, profiles, "PURPOSES", wide)

    found = await faults(app, mokoena)

    assert {"match: contact", "match: director.surname", "match: director.flags"} <= set(found)


async def test_a_record_is_told_with_its_citation_and_summary(app: FastAPI, mokoena: Company):
    told = (await described(app, mokoena, "bid_form")).records
    by_type = {record.type: record for record in told}

    user, director = by_type["user"], by_type["director"]
    assert director.ref.type == "director" and director.ref.version == 1
    assert director.verification_status == "unverified"
    assert director.summary["idNumberMasked"] == "*********9087"
    assert director.summary["flags"] == dict.fromkeys(
        ("publicServant", "restricted", "politicallyExposed"), "unknown"
    )
    assert user.summary["userId"] == str(mokoena.owner.user_id)
    assert user.summary["signingAuthority"]["limit"] == AUTHORITY["limit"]
    assert by_type["service"].summary["priceFrom"] == {"amount": "1.00", "currency": "ZAR"}
    assert (by_type["capability"].status, by_type["address"].status) == ("active", "active")


def sealed(shared: dict[str, shared_records.Shared]) -> list[str]:
    """Columns that hold sealed bytes or keyed hashes, and are told."""
    return [
        f"{name}.{field}"
        for name, one in shared.items()
        for fields in one.fields.values()
        for field in fields
        if field in one.row.__columns__ and isinstance(one.row.__table__.c[field].type, LargeBinary)
    ]


async def test_sealed_values_are_in_no_answer(app: FastAPI, mokoena: Company):
    answers = [(await described(app, mokoena, one)).model_dump_json() for one in TYPES]

    assert [one for one in answers if directing.NUMBER in one] == []
    assert sealed(SHARED) == []


def test_a_planted_sealed_column_is_found():
    director = replace(SHARED["director"], fields={"public": ("surname", "id_number")})

    assert sealed(SHARED | {"director": director}) == ["director.id_number"]


async def over(app: FastAPI, place: Company) -> list[str]:
    """The types of which something is told that is a draft, over or archived."""
    here = (place.host, place.id, place.owner.user_id)
    put = factory.record
    host, *mine = here
    gone = [
        await put(host, Capability, *mine, title="Old", status=CapabilityStatus.WITHDRAWN),
        await put(host, PastProject, *mine, **PROJECT),
        await put(host, Service, *mine, **OFFER | {"name": "Draft"}),
        await put(host, Product, *mine, **OFFER | {"name": "Draft"}),
        await factory.equipment(*here, status=EquipmentStatus.RETIRED),
        await factory.address(*here, valid_to=date(2026, 1, 1)),
        await factory.address(*here, valid_from=date(2099, 1, 1)),
        await factory.contact(*here, valid_to=date(2026, 1, 1)),
        await put(host, Address, *mine, kind="branch", line1="1", city="Gaborone", country="BW"),
    ]
    archived = gone[-1].id
    await place.api.delete(f"{place.path}/addresses/{archived}", headers=place.owner.headers)
    known = {str(one.id): one for one in gone}
    told = (await described(app, place, "bid_form")).records
    return [record.type for record in told if record.ref.id in known]


async def test_only_what_is_in_force_is_told(app: FastAPI, mokoena: Company):
    assert await over(app, mokoena) == []

    later = await described(app, mokoena, "bid_form", "user", on=date(2030, 7, 1))
    resigned = await mokoena.get("/directors")
    await mokoena.post(f"/directors/{resigned.json()['items'][0]['id']}/resign", {})
    directors = await described(app, mokoena, "bid_form", "director")

    assert (later.records, directors.records) == ([], [])


async def test_planted_records_that_are_over_are_found(
    app: FastAPI, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    always = {name: replace(one, in_force=lambda _: true()) for name, one in SHARED.items()}
    plant(monkeypatch, shared_records, "SHARED", always)

    assert {"service", "past_project", "contact", "equipment"} <= set(await over(app, mokoena))


async def test_who_may_sign_is_told_as_the_user_list_decides(
    app: FastAPI, mokoena: Company, host: Host
):
    day = date(2028, 1, 1)
    given: list[dict[str, Any]] = [
        {"signing_authority": AUTHORITY | {"valid_to": None}},
        {"signing_authority": AUTHORITY | {"valid_from": "2028-01-01", "valid_to": "2028-01-01"}},
        {"signing_authority": AUTHORITY | {"valid_from": "2028-01-02"}},
        {"signing_authority": AUTHORITY | {"valid_to": "2027-12-31"}},
        {"signing_authority": AUTHORITY, "status": MemberStatus.INVITED},
        {"signing_authority": None},
    ]
    made = [
        await factory.organization_user(
            host, mokoena.id, (await people.person(host)).user_id, **one
        )
        for one in given
    ]

    told = (await described(app, mokoena, "bid_form", "user", on=day)).records

    decided = {str(one.id) for one in made if users.signs_on(one, day)}
    assert {one.ref.id for one in told} & {str(one.id) for one in made} == decided
    assert len(decided) == 2


async def test_a_check_counts_as_of_the_day_asked(app: FastAPI, mokoena: Company):
    days = (None, date(2029, 12, 31), date(2030, 1, 2))
    told = [await described(app, mokoena, "match", "capability", on=day) for day in days]

    assert [one.records[0].verification_status for one in told] == [
        "verified",
        "verified",
        "lapsed",
    ]


async def walked(app: FastAPI, place: Company) -> list[str]:
    """All machines, by as many answers as it takes."""
    found: list[str] = []
    for _ in range(5):
        after = UUID(found[-1]) if found else None
        told = (await described(app, place, "match", "equipment", after=after)).records
        found += [one.ref.id for one in told]
    return found


async def test_many_records_are_told_in_the_order_of_ids(
    app: FastAPI, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    for _ in range(2):
        await factory.equipment(mokoena.host, mokoena.id, mokoena.owner.user_id)
    whole = (await described(app, mokoena, "match", "equipment")).records
    plant(monkeypatch, shared_records, "MOST", 2)

    assert len(whole) == 3
    assert await walked(app, mokoena) == sorted(one.ref.id for one in whole)


async def test_planted_answers_that_begin_anew_are_found(
    app: FastAPI, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    known = shared_records.describe_records

    async def from_the_start(*given: Any, after: Any, **named: Any) -> Any:
        return await known(*given, **named)

    plant(monkeypatch, shared_records, "describe_records", from_the_start)

    assert len(await walked(app, mokoena)) == 5


async def test_an_unknown_type_of_record_is_refused(app: FastAPI, mokoena: Company):
    with pytest.raises(ValidationFailed):
        await described(app, mokoena, "match", "equipment", "machines")
