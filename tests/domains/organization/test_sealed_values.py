"""Sealed values and masks: the vectors, the binding to a place, and the end of a key."""

from uuid import UUID, uuid4

import pytest

from tests.factories import organization
from thenga.domains.organization.services.records import masks, sealed_values
from thenga.domains.organization.services.records.sealed_values import Place, Subject
from thenga.kernel.crypto.sealing import BrokenSeal
from thenga.kernel.process.host import Host

MASTER = bytes(range(32))
ID = "za_id:8001015009087"
INDEXES = {
    "0192f3c4-0000-7000-8000-000000000001": (
        "ecb6f8f031ad9f521b02a2bec149d1d80795b2f2e6495a2e3c3907d73430d54f"
    ),
    "0192f3c4-0000-7000-8000-000000000002": (
        "609046461125a23f67a709b52e93bc7505f58f3e45f32432cbe8e374abd58c15"
    ),
}


@pytest.mark.rule("ORG-16")
def test_one_number_has_another_index_in_each_organization():
    found = {key: sealed_values.index_of(MASTER, UUID(key), ID).hex() for key in INDEXES}

    assert found == INDEXES


@pytest.mark.rule("ORG-16")
async def test_sealed_value_opens_only_in_its_place_with_its_key(host: Host):
    organization_id, director = uuid4(), Subject("director", uuid4())
    place = Place(organization_id, director.id, "idNumber", 1)
    work = organization.working(host, uuid4(), organization_id)
    key = await sealed_values.key_for(work, director)
    sealed = sealed_values.seal(key, "8001015009087", place)
    await work.finish()

    again = organization.working(host, uuid4(), organization_id)
    known = (await sealed_values.keys_of(again, [director]))[director]
    assert sealed_values.unseal(known, sealed, place) == "8001015009087"
    elsewhere = (
        Place(uuid4(), director.id, "idNumber", 1),
        Place(organization_id, uuid4(), "idNumber", 1),
        Place(organization_id, director.id, "email", 1),
        Place(organization_id, director.id, "idNumber", 2),
    )
    for wrong in elsewhere:
        with pytest.raises(BrokenSeal):
            sealed_values.unseal(known, sealed, wrong)
    assert await sealed_values.destroy(again, director)
    await again.finish()

    after = organization.working(host, uuid4(), organization_id)
    assert await sealed_values.keys_of(after, [director]) == {}
    assert not await sealed_values.destroy(after, director)
    with pytest.raises(sealed_values.KeyDestroyed):
        await sealed_values.key_for(after, director)
    await after.close()


@pytest.mark.rule("ORG-14")
def test_masks_show_enough_to_recognise_and_too_little_to_use():
    assert masks.id_number("8001015009087") == "*********9087"
    assert masks.passport("A1234567") == "*****567"
    assert masks.tax_number("0001339050") == "******9050"
    assert masks.account_number("62001234567") == "*******4567"
    assert masks.phone("+27821234567") == "********4567"
    assert masks.email("thabo@emfuleni.gov.za") == "t*****@emfuleni.gov.za"
    assert masks.account_number("12345") == "*****"
