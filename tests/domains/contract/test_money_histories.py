"""Histories of contracts, by the services and by an independent model: not a cent apart."""

import itertools

import pytest

from tests.domains.contract import histories
from tests.domains.contract.histories import Found
from tests.planting import plant
from tests.suites.sizes import size
from thenga.domains.contract.services.invoicing import arithmetic
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

HISTORIES = size(check=20, prove=2000)


async def lived(host: Host, seeds: range) -> Found:
    found = Found()
    async with host.engines.connection("contract", "contract_system") as connection:
        for seed in seeds:
            found.add(await histories.live(host, connection, seed))
    return found


@pytest.mark.rule("CON-16")
@pytest.mark.rule("CON-18")
@pytest.mark.rule("CON-24")
@pytest.mark.rule("CON-26")
async def test_histories_agree_with_the_model(host: Host, seeded: None) -> None:
    found = await lived(host, range(HISTORIES))

    print(
        f"histories={found.histories} invoices={found.invoices} "
        f"violations={len(found.violations)} cents_off={found.cents_off} "
        f"seconds={found.seconds:.1f}"
    )
    assert found.violations == []
    assert found.cents_off == 0
    assert found.invoices > HISTORIES


async def test_a_planted_rounding_is_found(
    host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = arithmetic.split_vat

    def a_cent_less(consideration: Money, rate: object) -> tuple[Money, Money]:
        net, vat = honest(consideration, rate)  # type: ignore[arg-type]  # as it is given
        off = Money(1 if vat.minor % 7 == 3 else 0, vat.currency)
        return net + off, vat - off

    plant(monkeypatch, arithmetic, "split_vat", a_cent_less)
    found = Found()
    async with host.engines.connection("contract", "contract_system") as connection:
        for seed in itertools.islice(itertools.count(), 40):
            found.add(await histories.live(host, connection, seed))
            if found.violations:
                break

    print(f"planted violations={len(found.violations)} after histories={found.histories}")
    assert found.violations
