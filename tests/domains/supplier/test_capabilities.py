"""What suppliers say they can deliver, and what Organization verified of it."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Silence, Time
from tests.domains.organization.offering import Folder
from tests.domains.organization.proving import proven
from tests.domains.supplier.desks import Desk
from tests.factories import identity as people
from tests.factories import supplier as factory
from tests.factories.supplier import CATEGORY, EXTERNAL, OWN, PIPES
from tests.settling import Settle
from thenga.domains.organization.public import Profiles
from thenga.domains.supplier.services import capabilities
from thenga.domains.supplier.tables import Capability, Supplier
from thenga.kernel.db.work import Work
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host

CLAIM = {"title": "General building", "classifications": [{"scheme": "cidb", "code": "GB"}]}
WORKS: dict[str, Any] = {"title": "General building works", "categoryIds": [str(CATEGORY)]}


@pytest.fixture
async def own(mine: Desk) -> str:
    """The path of the company's own supplier."""
    return f"/{(await mine.made(**OWN))['id']}"


@pytest.fixture
def claims(api: httpx2.AsyncClient, mine: Desk) -> Folder:
    """Capabilities of the company's profile."""
    return Folder(api, mine.who, "capabilities")


async def shown(mine: Desk, own: str) -> Any:
    """The one capability of the own supplier."""
    (found,) = (await mine.read(own[1:]))["capabilities"]
    return found


@pytest.mark.rule("SUP-6")
async def test_a_capability_is_the_suppliers_own_statement(
    mine: Desk, theirs: Desk, own: str
) -> None:
    answer = await mine.post(f"{own}/capabilities", **PIPES)

    assert (answer.status_code, answer.json()["verification"]) == (201, None)
    assert answer.headers["location"].endswith(f"/suppliers{own}")
    (found,) = (await theirs.read(own[1:]))["capabilities"]
    assert (found["title"], found["withdrawn"]) == (PIPES["title"], False)
    (name, data) = (await mine.events())[-1]
    assert (name, data["verificationStatus"]) == ("SupplierCapabilityChanged", None)
    assert data["categoryIds"] == [str(CATEGORY)]


async def test_the_same_title_changes_withdraws_and_restores(mine: Desk, own: str) -> None:
    made = await mine.made(f"{own}/capabilities", **PIPES)
    same = {"title": PIPES["title"].upper(), "categoryIds": [str(CATEGORY)]}

    changed = await mine.post(f"{own}/capabilities", **same, description="Up to 1,200 mm.")
    gone = await mine.post(f"{own}/capabilities", **same, withdrawn=True)
    hidden = (await mine.read(own[1:]))["capabilities"]
    again = await mine.post(f"{own}/capabilities", **same, withdrawn=True)
    back = await mine.post(f"{own}/capabilities", **same)

    assert (changed.status_code, changed.json()["id"]) == (200, made["id"])
    assert changed.json()["description"] == "Up to 1,200 mm."
    assert (gone.json()["withdrawn"], hidden) == (True, [])
    assert again.json()["version"] == gone.json()["version"]
    assert (back.json()["withdrawn"], back.json()["description"]) == (False, "Up to 1,200 mm.")
    changes = [data["withdrawn"] for name, data in await mine.events() if "Capability" in name]
    assert changes == [False, False, True, False]


async def test_only_the_keeper_declares_capabilities(mine: Desk, theirs: Desk, own: str) -> None:
    external = (await theirs.made(**EXTERNAL))["id"]

    stranger = await theirs.post(f"{own}/capabilities", **PIPES)
    outside = await mine.post(f"/{external}/capabilities", **PIPES)
    keeper = await theirs.post(f"/{external}/capabilities", **PIPES)

    assert (stranger.status_code, outside.status_code) == (404, 404)
    assert keeper.status_code == 201
    assert (await mine.read(own[1:]))["capabilities"] == []


@pytest.mark.rule("SUP-6")
async def test_a_supplier_has_a_bounded_number(
    mine: Desk, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "MOST", 2)
    for number in range(2):
        await mine.made(f"{own}/capabilities", **PIPES | {"title": f"Pipes of class {number}"})

    refused = await mine.post(f"{own}/capabilities", **PIPES)
    changed = await mine.post(f"{own}/capabilities", **PIPES | {"title": "Pipes of class 1"})

    assert (refused.status_code, refused.json()["rule"]) == (422, "SUP-6")
    assert (refused.json()["limit"], changed.status_code) == (2, 200)


@pytest.mark.rule("SUP-6")
async def test_a_capability_of_the_profile_is_named_by_its_company(
    mine: Desk, theirs: Desk, own: str, claims: Folder, silence: Silence
) -> None:
    claim = await claims.made(**CLAIM)
    outside = f"/{(await mine.made(**EXTERNAL))['id']}"
    named = WORKS | {"organizationCapabilityId": claim["id"]}
    other = f"/{(await theirs.made(**OWN))['id']}"

    made = await mine.made(f"{own}/capabilities", **named)
    external = await mine.post(f"{outside}/capabilities", **named)
    foreign = await theirs.post(f"{other}/capabilities", **named)
    unknown = await theirs.post(
        f"{other}/capabilities", **WORKS, organizationCapabilityId=str(uuid4())
    )
    silence(Profiles)
    silent = await mine.post(f"{own}/capabilities", **named | {"title": "Road works"})

    assert made["verification"]["verificationStatus"] == "claimed"
    assert (external.status_code, external.json()["rule"]) == (422, "SUP-6")
    codes = [(answer.status_code, answer.json()["code"]) for answer in (foreign, unknown)]
    assert codes == [(422, "supplier-capability-unknown")] * 2
    assert silent.status_code == 503
    assert len((await mine.read(own[1:]))["capabilities"]) == 1


@pytest.mark.rule("SUP-6")
@pytest.mark.settles("organization", "supplier")
async def test_the_verification_of_organization_is_shown(
    mine: Desk, theirs: Desk, own: str, claims: Folder, host: Host, settle: Settle
) -> None:
    curator = await people.staff(host, "platform_curator")
    capability_id, _ = await proven(host, settle, claims, curator)

    made = await mine.made(f"{own}/capabilities", **WORKS, organizationCapabilityId=capability_id)
    read_by_others = (await theirs.read(own[1:]))["capabilities"]
    await claims.post(f"{capability_id}/withdraw")

    async def gone() -> bool:
        return (await shown(mine, own))["verification"] is None

    await settle(gone)
    assert made["verification"]["verificationStatus"] == "verified"
    assert made["verification"]["cidbDesignation"] == "5GB"
    assert made["verification"]["verifiedUntil"] is not None
    assert read_by_others == [made]


@pytest.mark.rule("SUP-6")
async def test_the_newest_statement_wins_and_time_lapses_it(
    mine: Desk, own: str, claims: Folder, host: Host, clock: Time
) -> None:
    claim = await claims.made(**CLAIM)
    await mine.made(f"{own}/capabilities", **WORKS, organizationCapabilityId=claim["id"])
    ends = host.now() + timedelta(days=3)
    organization_id, capability_id = mine.who.organization_id, UUID(claim["id"])
    event = factory.verified(organization_id, capability_id, verified_until=ends)
    older = event.model_copy(update={"verification_status": "under_review"})

    await factory.hear(host, organization_id, event, sequence=5)
    await factory.hear(host, organization_id, older, sequence=4)
    found = await shown(mine, own)
    clock.move(timedelta(days=4))
    mine.who = await people.member(host, organization_id, role="owner")
    later = await shown(mine, own)

    states = [row["verification"]["verificationStatus"] for row in (found, later)]
    assert states == ["verified", "lapsed"]
    assert found["verification"]["classifications"] == [{"scheme": "cidb", "code": "GB"}]
    changes = [data for name, data in await mine.events() if "Capability" in name]
    assert [data["verificationStatus"] for data in changes] == ["claimed", "verified"]


@pytest.mark.rule("SUP-6")
async def test_planted_older_statement_is_found(
    mine: Desk, own: str, claims: Folder, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await claims.made(**CLAIM)
    await mine.made(f"{own}/capabilities", **WORKS, organizationCapabilityId=claim["id"])
    organization_id, capability_id = mine.who.organization_id, UUID(claim["id"])
    event = factory.verified(organization_id, capability_id)
    older = event.model_copy(update={"verification_status": "under_review"})
    save = Work.save

    async def forgetful(work: Any, row: Any) -> Any:
        if isinstance(row, Capability):
            row.verification_sequence = 0
        return await save(work, row)

    monkeypatch.setattr(Work, "save", forgetful)
    await factory.hear(host, organization_id, event, sequence=5)
    await factory.hear(host, organization_id, older, sequence=4)

    assert (await shown(mine, own))["verification"]["verificationStatus"] == "under_review"


async def declared_while_verified(
    mine: Desk,
    own: str,
    claim: dict[str, Any],
    bound: Host,
    patch: pytest.MonkeyPatch,
    *,
    wait: bool,
) -> str:
    """The verification shown, where it is published while Organization is asked for it."""
    real, heard = bound.bindings.of(Profiles), list[asyncio.Task[None]]()
    event = factory.verified(mine.who.organization_id, UUID(claim["id"]))

    async def ask(shape: Any, arguments: dict[str, Any]) -> object:
        answer = await getattr(real, shape.name)(**arguments)
        if shape.name == "describe":
            hearing = factory.hear(mine.host, mine.who.organization_id, event, sequence=5)
            heard.append(asyncio.create_task(hearing))
            await asyncio.wait(heard, timeout=None if wait else 0.2)
        return answer

    patch.setitem(bound.bindings._bound, Profiles, stand_in(Profiles, ask))
    await mine.made(f"{own}/capabilities", **WORKS, organizationCapabilityId=claim["id"])
    await asyncio.gather(*heard)
    return str((await shown(mine, own))["verification"]["verificationStatus"])


@pytest.mark.rule("SUP-6")
async def test_a_verification_published_meanwhile_is_kept(
    mine: Desk, own: str, claims: Folder, bound: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = await claims.made(**CLAIM)

    found = await declared_while_verified(mine, own, claim, bound, monkeypatch, wait=False)

    assert found == "verified"


async def test_a_planted_reaction_without_the_lock_is_found(
    mine: Desk, own: str, claims: Folder, bound: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, hold = await claims.made(**CLAIM), Work.hold

    async def careless(work: Work, row: Any) -> Any:
        return row if isinstance(row, Supplier) else await hold(work, row)

    monkeypatch.setattr(Work, "hold", careless)

    found = await declared_while_verified(mine, own, claim, bound, monkeypatch, wait=True)

    assert found == "claimed"
