"""What time does to sessions, tokens and accounts, and how it is known when one was last seen."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity.test_sessions import there
from tests.factories import accounts
from tests.factories import identity as people
from tests.settling import Settle
from thenga.domains.identity import jobs as declared
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.services.accounts import names
from thenga.domains.identity.services.sessions import last_seen
from thenga.domains.identity.tables import UserStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values import networks


async def by_system(host: Host, job: Any) -> None:
    """Run a periodic job once, as the worker does."""
    origin = Origin(action="test", request_id="test", correlation_id="test")
    work = Work(host, "identity", Scope(actor=SYSTEM), origin, login="identity_system")
    try:
        await job.body(work)
        await work.finish()
    finally:
        await work.close()


async def value(host: Host, text: str, *arguments: object) -> Any:
    async with host.engines.connection("identity", "identity_system") as connection:
        return await connection.fetchval(text, *arguments)


async def test_expired_session_is_refused_before_the_job_marks_it(
    api: httpx2.AsyncClient, host: Host, settle: Settle
):
    one = await people.person(host)
    status = "SELECT status FROM identity.session WHERE id = $1"
    # The clock is not moved: the sessions of all earlier tests would be over before this one.
    idle = "UPDATE identity.session SET idle_expires_at = $2 WHERE id = $1 RETURNING status"

    written_before = await value(host, idle, one.session_id, host.now() - timedelta(days=30))
    seen = await api.get("/identity/sessions", headers=one.headers)
    await by_system(host, declared.expire_sessions)

    async def written() -> bool:
        return await value(host, status, one.session_id) == "expired"

    await settle(written)
    assert (seen.status_code, seen.json()["code"]) == (401, "session-expired")
    assert written_before == "active"


@pytest.mark.rule("IDN-3")
async def test_the_seal_of_a_successor_is_wiped_after_the_grace(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    one = await people.person(host)
    await api.post("/identity/auth/refresh", json={"refreshToken": one.refresh_token})
    sealed = "SELECT count(successor_sealed) FROM identity.refresh_token WHERE session_id = $1"

    kept = await value(host, sealed, one.session_id)
    clock.move(timedelta(seconds=31))
    await by_system(host, declared.expire_sessions)

    assert (kept, await value(host, sealed, one.session_id)) == (1, 0)


async def test_unverified_address_is_free_after_fourteen_days(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    waiting = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)
    proved = await accounts.account(host)
    there_is = "SELECT count(*) FROM identity.user_account WHERE id = $1"

    await by_system(host, declared.remove_unverified)
    early = await value(host, there_is, waiting.user_id)
    clock.move(timedelta(days=14, seconds=1))
    await by_system(host, declared.remove_unverified)

    left = [await value(host, there_is, who.user_id) for who in (waiting, proved)]
    cards = await value(
        host, "SELECT count(*) FROM identity.account_card WHERE user_id = $1", waiting.user_id
    )
    assert (early, left, cards) == (1, [0, 1], 0)


async def test_tokens_and_counters_that_are_long_over_are_taken_away(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    one = await accounts.account(host)
    await api.post("/identity/auth/sign-in", json=one.signing_in | {"password": "wrong"})
    who = await people.person(host)
    counter = names.account_key(host, one.email)
    counters = "SELECT count(*) FROM identity.sign_in_counter WHERE hash = $1"
    tokens = "SELECT count(*) FROM identity.access_token WHERE session_id = $1"

    clock.move(timedelta(days=1, minutes=16))
    before = await value(host, tokens, who.session_id), await value(host, counters, counter)
    for _ in range(300):  # a thousand at a time, and other tests left older ones
        await by_system(host, declared.purge_tokens)
        after = await value(host, tokens, who.session_id), await value(host, counters, counter)
        if after == (0, 0):
            break

    assert (before, after) == ((1, 1), (0, 0))


@pytest.mark.rule("IDN-42")
async def test_when_a_session_was_seen_is_gathered_and_folded_in(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await people.member(host, uuid4(), role="owner")
    at = host.now() + timedelta(minutes=3)

    before = (await api.get("/identity/sessions", headers=owner.headers)).json()["items"][0]
    await last_seen.write(
        host,
        {
            (owner.session_id, owner.organization_id): (owner.user_id, "41.0.1.77", at),
            (owner.session_id, None): (owner.user_id, "41.0.1.77", at - timedelta(minutes=2)),
        },
    )
    await by_system(host, declared.fold_uses)
    query = {"organizationId": str(owner.organization_id)}
    listed = await api.get("/identity/sessions", params=query, headers=there(owner))
    own = await api.get("/identity/sessions", headers=owner.headers)

    # The factory signed in through nobody's gate, so this is the one place it was used in.
    (use,) = listed.json()["items"]
    assert (use["id"], use["network"]) == (str(owner.session_id), "41.0.1.0/24")
    assert datetime.fromisoformat(own.json()["items"][0]["lastSeenAt"]) == at
    assert own.json()["items"][0]["version"] == before["version"]


@pytest.mark.rule("IDN-42")
async def test_the_gate_notes_every_use_it_lets_in(
    api: httpx2.AsyncClient, host: Host, app: Any, seeded: None
):
    one = await people.person(host)
    gate = app.state.shared.gate
    assert isinstance(gate, LocalDecisions)

    await api.get("/identity/sessions", headers=one.headers)

    assert gate._host.gathered["sessions"].get((one.session_id, None)) is not None


@pytest.mark.parametrize(
    ("address", "shown"),
    [("41.0.1.77", "41.0.1.0/24"), ("2001:db8:1:2::9", "2001:db8:1::/48"), (None, None)],
)
def test_a_network_is_shown_without_its_last_part(address: str | None, shown: str | None):
    assert networks.cut(address) == shown
