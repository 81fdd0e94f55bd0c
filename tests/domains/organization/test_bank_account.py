"""The bank account: sealed, masked, guarded, and held back for a day when it changes."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.domains.organization.companies import BANK, Company, ahead, company, count, sweep
from tests.factories import identity as people
from thenga.domains.identity.tables import Session
from thenga.domains.organization.jobs import activate_statement
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import _holding
from thenga.kernel.process.host import Host

NEW = BANK | {"accountNumber": "62009876543"}
MASKED, NEW_MASKED = "*******4567", "*******6543"


@pytest.fixture
async def mokoena(api: httpx2.AsyncClient, host: Host, seeded: None) -> Company:
    return await company(api, host, mode="sandbox")


async def state(place: Company, account: dict[str, Any] | None) -> httpx2.Response:
    version = (await place.get()).headers["etag"]
    return await place.patch({"bankAccount": account}, If_Match=version)


async def shown(place: Company) -> tuple[str, bool]:
    fact = (await place.get()).json()["profile"]["bankAccount"]
    return fact["value"]["accountNumber"], fact["pendingChange"] is not None


async def prove_again(place: Company) -> None:
    """The owner shows anew who they are; the sandbox's clock changes nothing about that."""
    work = people.working(place.host, user_id=place.owner.user_id)
    session = await work.lock(Session, place.owner.session_id)
    session.proven_at = work.now
    await work.save(session)
    await work.finish()


@pytest.mark.rule("ORG-37")
async def test_a_changed_account_counts_after_a_day_and_is_told_once(mokoena: Company, host: Host):
    first = await state(mokoena, BANK)
    at_once = await shown(mokoena)
    changed = await state(mokoena, NEW)
    announced = await mokoena.told("SensitiveFactChangeAnnounced")
    await ahead(mokoena, timedelta(hours=23, minutes=59))
    before = await shown(mokoena)
    await ahead(mokoena, timedelta(hours=24, seconds=5), sequence=2)
    after = await shown(mokoena)
    await sweep(host, activate_statement)
    await sweep(host, activate_statement)
    told = [one for one in await mokoena.changes() if one[1] == "activated"]
    kept = await shown(mokoena)

    assert (first.status_code, at_once) == (200, (MASKED, False))
    assert changed.json()["profile"]["bankAccount"]["pendingChange"]["effectiveFrom"]
    assert (before, after) == ((MASKED, True), (NEW_MASKED, False))
    assert (len(announced), len(told), kept) == (1, 1, (NEW_MASKED, False))
    assert (await mokoena.fact("bankAccount"))["version"] == 2
    print(f"\nbank_at_23:59={before[0]} bank_at_24:00={after[0]} activated_events={len(told)}")


@pytest.mark.rule("ORG-37")
async def test_a_change_without_a_hold_would_be_found(
    mokoena: Company, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_holding, "HELD", ())
    await state(mokoena, BANK)
    await state(mokoena, NEW)

    assert await shown(mokoena) == (NEW_MASKED, False)


@pytest.mark.rule("ORG-37")
async def test_an_owner_stops_a_held_change(mokoena: Company, host: Host):
    await state(mokoena, BANK)
    held = await state(mokoena, NEW)
    pending = held.json()["profile"]["bankAccount"]["pendingChange"]
    again = await state(mokoena, NEW)

    other = await people.member(host, mokoena.id, role="owner")
    mokoena.owner = other
    stopped = await mokoena.post(
        "/facts/bankAccount/withdraw", {"statementId": pending["statementId"]}
    )
    await ahead(mokoena, timedelta(hours=25))

    assert again.json()["profile"]["bankAccount"]["pendingChange"] == pending
    assert (stopped.status_code, stopped.json()["pendingChange"]) == (200, None)
    assert await shown(mokoena) == (MASKED, False)


@pytest.mark.rule("ORG-37")
async def test_bank_change_needs_version_permission_and_verification(mokoena: Company, host: Host):
    blind = await mokoena.patch({"bankAccount": BANK})
    await state(mokoena, BANK)
    stale = await mokoena.patch({"bankAccount": NEW}, If_Match='"1"')
    keeper = await people.member(host, mokoena.id, role="contributor")
    owner, mokoena.owner = mokoena.owner, keeper
    forbidden = await state(mokoena, NEW)
    mokoena.owner = owner
    work = people.working(host, user_id=owner.user_id)
    session = await work.lock(Session, owner.session_id)
    session.proven_at = work.now - timedelta(minutes=16)
    await work.save(session)
    await work.finish()
    old_proof = await state(mokoena, NEW)
    await prove_again(mokoena)
    fresh = await state(mokoena, NEW)

    assert (blind.status_code, blind.json()["code"]) == (428, "precondition-required")
    assert (stale.status_code, stale.json()["code"]) == (412, "stale-version")
    assert (forbidden.status_code, forbidden.json()["action"]) == (403, "organization:bank:update")
    assert (old_proof.status_code, old_proof.json()["code"]) == (403, "step-up-required")
    assert old_proof.json()["maxAgeSeconds"] == 300
    assert fresh.status_code == 200


@pytest.mark.rule("ORG-16")
async def test_the_account_number_stands_nowhere_in_plain(mokoena: Company, host: Host):
    # Numbers of its own: other tests plant bugs that leave theirs in plain.
    numbers = [str(10**10 + uuid4().int % (9 * 10**10)) for _ in range(2)]
    first, second = (BANK | {"accountNumber": number} for number in numbers)
    await state(mokoena, first)
    await state(mokoena, second)
    await mokoena.post("/facts/confirm", {"factKeys": ["bankAccount"]})

    canaries = 0
    async with host.engines.connection("organization", "organization_system") as connection:
        tables = await connection.fetch(
            "SELECT c.oid::regclass::text AS name FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = 'organization' AND c.relkind = 'r' "
            "AND has_table_privilege(c.oid, 'SELECT')"
        )
        for table in tables:
            canaries += await connection.fetchval(
                f"SELECT count(*) FROM {table['name']} t WHERE t::text ~ $1", "|".join(numbers)
            )
    answers = [
        (await mokoena.get("?include=statements,verifications")).text,
        (await mokoena.get("/facts")).text,
        (await mokoena.get("/facts/bankAccount")).text,
        (await mokoena.get("/facts/bankAccount/versions/1")).text,
    ]
    canaries += sum(number in answer for answer in answers for number in numbers)

    print(f"\nbank_canaries={canaries} tables={len(tables)}")
    assert canaries == 0
    assert f"*******{numbers[0][-4:]}" in answers[3]
    work = await mokoena.work()
    picture = await facts.load_one(work, "bankAccount")
    assert picture.customer is not None
    values = await facts.values_for(work, [picture.customer])
    assert values.plain("bankAccount", picture.customer) == first
    await work.close()
    sealed = "SELECT count(*) FROM organization.customer_statement WHERE organization_id = $1 "
    assert await count(host, f"{sealed} AND sealed IS NOT NULL AND value IS NULL", mokoena.id) == 2
