"""Citations of records: whether what another domain cites still holds."""

from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.domains.organization import directing
from tests.domains.organization.companies import Company, company
from tests.factories import identity as people
from tests.factories import organization as factory
from tests.planting import plant
from thenga.domains.organization import public
from thenga.domains.organization.services.organizations import citations
from thenga.kernel.process.host import Host


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host)


def ref(kind: str, id_: object, version: int = 1) -> public.Ref:
    return public.Ref(type=kind, id=str(id_), version=version)


async def resolved(
    app: FastAPI, organization_id: UUID | None, *refs: public.Ref
) -> list[public.Resolved]:
    port: public.Profiles = app.state.shared.host.bindings.of(public.Profiles)
    return await port.resolve(refs=list(refs), organization_id=organization_id)


async def changed(app: FastAPI, place: Company) -> list[tuple[str, int | None, list[str]]]:
    """What becomes of citations of a machine that is renamed, and then archived."""
    made = await factory.equipment(place.host, place.id, place.owner.user_id)
    path, owner = f"{place.path}/equipment/{made.id}", place.owner.headers
    told = await resolved(app, place.id, ref("equipment", made.id))
    await place.api.patch(path, json={"name": "Excavator", "quantity": 2}, headers=owner)
    both = [ref("equipment", made.id, version) for version in (1, 2)]
    told += await resolved(app, place.id, *both)
    await place.api.delete(path, headers=owner)
    told += await resolved(app, place.id, both[1])
    return [(one.state, one.current_version, one.changed_fields) for one in told]


@pytest.mark.rule("ORG-7")
async def test_a_cited_record_goes_stale_when_a_field_changes(app: FastAPI, mokoena: Company):
    assert await changed(app, mokoena) == [
        ("live", 1, []),
        ("stale", 2, ["name", "quantity"]),
        ("live", 2, []),
        ("stale", 3, ["archivedAt"]),
    ]


@pytest.mark.rule("ORG-7")
async def test_a_planted_record_that_never_goes_stale_is_found(
    app: FastAPI, mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    async def nothing(read: Any, ids: Any) -> dict[UUID, list[Any]]:
        return {one: [] for one in ids}

    plant(monkeypatch, citations, "_changes", nothing)

    assert {state for state, _, _ in await changed(app, mokoena)} == {"live"}


@pytest.mark.rule("ORG-7")
async def test_a_check_of_a_record_leaves_citations_of_it_live(
    app: FastAPI, mokoena: Company, host: Host
):
    path = await directing.added(mokoena.api, mokoena.owner)
    cited = ref("director", path.rsplit("/", 1)[1])
    curator = await people.staff(host, "platform_curator")

    checked = await mokoena.api.post(
        f"{path}/verify", json=directing.CHECK, headers=curator.headers
    )
    (one,) = await resolved(app, mokoena.id, cited)

    assert checked.status_code == 200, checked.text
    assert (one.state, one.current_version, one.changed_fields) == ("live", 2, [])


async def foreign(app: FastAPI, place: Company, other: Company) -> list[str]:
    """The states of citations that this company may not know of."""
    made = await factory.equipment(other.host, other.id, other.owner.user_id)
    refs = (
        ref("equipment", made.id),
        ref("service", uuid4()),
        ref("equipment", "not an identifier"),
        ref("organization", place.id),
    )
    own = await factory.equipment(place.host, place.id, place.owner.user_id)
    mixed = (ref("service", own.id), ref("equipment", own.id, 9), ref("equipment", own.id, 0))
    found = await resolved(app, place.id, *refs, *mixed)
    found += await resolved(app, None, ref("equipment", own.id))
    found += await resolved(app, uuid4(), ref("equipment", own.id))
    return [one.state for one in found]


@pytest.mark.rule("ORG-7")
async def test_a_record_of_somebody_else_is_forbidden(
    app: FastAPI, api: httpx2.AsyncClient, host: Host, mokoena: Company
):
    assert set(await foreign(app, mokoena, await company(api, host))) == {"forbidden"}


@pytest.mark.rule("ORG-7")
async def test_an_erased_person_is_told_as_erased(app: FastAPI, mokoena: Company):
    made = await factory.contact(mokoena.host, mokoena.id, mokoena.owner.user_id)
    fact = ref("fact", f"{mokoena.id}:legalName")

    erased = await mokoena.post(f"/contacts/{made.id}/erase", {})
    found = await resolved(app, mokoena.id, ref("contact", made.id), fact)

    assert erased.status_code == 200, erased.text
    assert [one.state for one in found] == ["erased", "live"]
