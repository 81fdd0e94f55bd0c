"""Suppliers as other domains ask for them."""

from uuid import UUID, uuid4

import pytest

from tests.domains.supplier.desks import Desk
from tests.factories import supplier as factory
from tests.factories.supplier import EXTERNAL, OWN, PIPES
from thenga.domains.supplier.provider import LocalSuppliers
from thenga.domains.supplier.public import Suppliers
from thenga.kernel.process.host import Host


@pytest.fixture
def port(bound: Host) -> Suppliers:
    return bound.bindings.of(Suppliers)


@pytest.mark.rule("SUP-1")
async def test_an_own_supplier_is_found_by_its_organization(
    mine: Desk, theirs: Desk, port: Suppliers
) -> None:
    made = await mine.made(**OWN)
    await theirs.made(**EXTERNAL)

    found = await port.of_organization(organization_id=mine.who.organization_id)
    none = await port.of_organization(organization_id=theirs.who.organization_id)

    assert (found, none) == (UUID(made["id"]), None)
    assert isinstance(port, LocalSuppliers)


@pytest.mark.rule("SUP-2")
async def test_suppliers_are_described_as_the_asker_may_read_them(
    mine: Desk, theirs: Desk, port: Suppliers
) -> None:
    own = UUID((await mine.made(**OWN))["id"])
    external = UUID((await mine.made(**EXTERNAL))["id"])
    ids = [external, own, uuid4(), own]

    keeper = await port.describe(organization_id=mine.who.organization_id, supplier_ids=ids)
    other = await port.describe(organization_id=theirs.who.organization_id, supplier_ids=ids)

    cards = {card.supplier_id: card for card in keeper}
    assert cards.keys() == {own, external}
    assert (cards[external].name, cards[external].organization_id) == ("Kagiso Pipes", None)
    assert (cards[own].name, cards[own].organization_id) == (None, mine.who.organization_id)
    assert [card.supplier_id for card in other] == [own]


@pytest.mark.rule("SUP-6")
async def test_capabilities_are_described_with_their_assurance(
    mine: Desk, host: Host, port: Suppliers
) -> None:
    made = await mine.made(**OWN)
    path = f"/{made['id']}/capabilities"
    await mine.made(path, **PIPES)
    await mine.made(path, **PIPES | {"title": "Kerbs"})
    await mine.post(path, **PIPES | {"title": "Kerbs"}, withdrawn=True)

    (card,) = await port.describe(
        organization_id=mine.who.organization_id, supplier_ids=[UUID(made["id"])]
    )

    (capability,) = card.capabilities
    assert (capability.title, capability.verification) == (PIPES["title"], None)
    assert (card.status, card.accepts_quote_requests) == ("active", True)
    assert factory.CATEGORY in capability.category_ids
