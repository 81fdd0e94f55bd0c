"""A won bid becomes a contract: through Bid, the mesh, Contract and Notification."""

from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.contract.sites import Site, zar
from tests.factories import bid as bids
from tests.factories import contract as contracts
from tests.factories import held
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import organization as companies
from tests.factories.identity import Member
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.bid.tables import WorkspaceStatus
from thenga.domains.contract.services.awards import recording
from thenga.domains.contract.tables import AwardKind
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.domains("bid", "contract", "notification")

# Domains that Contract only refers to, and which stand.
FOREIGN = ("bid", "organization")
# Tables of the kernel: a domain notes there what it hears and does.
_KERNEL = ("outbox", "inbox", "audit_entry", "parked_event", "relay_state", "clock_offset")
_TABLES = """
    SELECT table_name FROM information_schema.columns
    WHERE table_schema = $1 AND column_name = 'organization_id' AND NOT table_name = ANY($2)
    ORDER BY table_name
"""
_WRITABLE = """
    SELECT count(*) FROM information_schema.tables
    WHERE table_schema <> 'contract' AND table_type = 'BASE TABLE' AND has_table_privilege(
        'contract', format('%I.%I', table_schema, table_name), 'INSERT, UPDATE, DELETE')
"""


async def rows_of(host: Host, organization_id: UUID) -> dict[str, list[str]]:
    """Every row of a company that other domains keep."""
    found = {}
    for domain in FOREIGN:
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            for table in await connection.fetch(_TABLES, domain, list(_KERNEL)):
                name = f"{domain}.{table['table_name']}"
                rows = await connection.fetch(
                    f"SELECT to_jsonb(one)::text AS row FROM {name} AS one "
                    "WHERE organization_id = $1 ORDER BY 1",
                    organization_id,
                )
                found[name] = [row["row"] for row in rows]
    return found


async def writable(host: Host) -> int:
    """Tables of other domains that Contract's login can write to."""
    async with host.engines.connection("contract", "contract_system") as connection:
        return int(await connection.fetchval(_WRITABLE))


@pytest.fixture
async def site(api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None) -> Site:
    """A company that may bid and keep contracts."""
    founder = await people.person(host)
    company = await companies.organization(host, founder.user_id, name="Mokoena Civils (Pty) Ltd")
    await bids.room(host, company.id)
    await held.granted(host, company.id, contracts.FEATURE, 100)
    await deliveries.tenant(host, company.id, sandbox=True)
    return Site(api, host, clock, company.id)


async def win(site: Site, workspace_id: UUID, who: Member, **more: Any) -> Any:
    """Record in Bid that the bid was won."""
    body = {
        "result": "won",
        "awardReference": "AW 12",
        "awardedValue": zar("4830000.00"),
        "decidedOn": site.host.now().date().isoformat(),
    }
    path = f"/bids/workspaces/{workspace_id}/outcome"
    answer = await site.post(path, body | more, who=who)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def awarded(site: Site, settle: Settle) -> Any:
    """The award, once Contract has heard of it."""

    async def heard() -> Any:
        items = (await site.get("/contracts/awards"))["items"]
        return items[0] if items else None

    return await settle(heard)


@pytest.mark.settles("bid", "contract", "notification")
@pytest.mark.rule("CON-1")
async def test_a_won_bid_becomes_a_contract(site: Site, settle: Settle) -> None:
    manager = await site.member()
    bid = await bids.workspace(
        site.host, site.organization_id, manager.user_id, status=WorkspaceStatus.SUBMITTED
    )
    outcome = await win(site, bid.id, manager)
    award = await awarded(site, settle)

    made = await site.made("/contracts/workspaces", site.contract(UUID(award["eventId"])))

    async def told() -> Any:
        async with site.host.engines.connection("notification", "notification_system") as link:
            return await link.fetchrow(
                "SELECT facts FROM notification.request WHERE organization_id = $1 "
                "AND topic_code = 'contract.opened'",
                site.organization_id,
            )

    message = await settle(told)
    (opened,) = await site.told("ContractWorkspaceOpened")
    print(f"outcome={outcome['id']} kind={award['kind']} contract={made['status']}")
    assert (award["kind"], award["outcomeId"]) == ("award", outcome["id"])
    assert (award["bidWorkspaceId"], award["status"]) == (str(bid.id), "awaiting")
    assert opened["bidWorkspaceId"] == str(bid.id)
    assert made["correlationId"] == award["correlationId"]
    assert "Road to the school" in str(message["facts"])


@pytest.mark.settles("bid", "contract")
@pytest.mark.rule("CON-3")
async def test_a_contract_won_outside_lives_and_writes_nothing_foreign(
    site: Site, settle: Settle
) -> None:
    body = {
        "origin": "outside_platform",
        "buyerName": "City of Tshwane",
        "externalReference": "RFQ 17",
        "title": "Cleaning",
    }
    manager = await site.member()
    opened = await site.post("/bids/workspaces", body, who=manager)
    assert opened.status_code == 201, opened.text
    bid_id = UUID(opened.json()["id"])
    letter = await bids.clean_file(site.host, site.organization_id, bid_id)
    await win(site, bid_id, manager, fileIds=[str(letter.id)])
    award = await awarded(site, settle)
    before = await rows_of(site.host, site.organization_id)

    ended = await site.live(UUID(award["eventId"]))

    after = await rows_of(site.host, site.organization_id)
    changed = sum(len(set(before[name]) ^ set(after[name])) for name in before)
    print(f"kind={award['kind']} foreign_rows_changed={changed} tables={len(before)}")
    assert award["kind"] == "contract_creation"
    assert ended["status"] == "completed"
    assert sum(map(len, before.values())) > 0
    assert (changed, await writable(site.host)) == (0, 0)


@pytest.mark.settles("bid", "contract")
async def test_a_creation_stored_as_an_award_is_found(
    site: Site, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = dict.fromkeys(recording.CREATION_SOURCES, AwardKind.AWARD)
    plant(monkeypatch, recording, "CREATION_SOURCES", wrong)

    with pytest.raises(AssertionError, match="contract_creation"):
        await test_a_contract_won_outside_lives_and_writes_nothing_foreign(site, settle)
