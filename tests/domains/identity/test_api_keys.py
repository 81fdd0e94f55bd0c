"""Keys: shown once, within their maker's rights, rotated with a grace, dead when revoked."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.settling import Settle, transaction_number
from thenga.domains.identity import settings
from thenga.domains.identity.services import api_keys
from thenga.domains.identity.services.decisions import _stages, _statement, key_uses
from thenga.domains.identity.tables import ApiKey, TenantMirror
from thenga.kernel.crypto import tokens
from thenga.kernel.process.host import Host

READ = "organization:equipment:read"


def asking(owner: Member) -> dict[str, str]:
    return owner.headers | {"X-Organization-Id": str(owner.organization_id)}


async def made(
    api: httpx2.AsyncClient, owner: Member, scopes: tuple[str, ...] = (READ,), **more: Any
) -> dict[str, Any]:
    body = {"name": "Nightly import", "scopes": list(scopes), "reason": "for the import"} | more
    answer = await api.post("/identity/api-keys", json=body, headers=asking(owner))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def used(api: httpx2.AsyncClient, owner: Member, plaintext: str) -> tuple[int, str]:
    path = f"/organizations/{owner.organization_id}/equipment"
    answer = await api.get(path, headers={"Authorization": f"Bearer {plaintext}"})
    return answer.status_code, answer.json().get("code", "")


async def moved(host: Host, owner: Member, ahead: timedelta) -> None:
    work = people.working(host, owner.organization_id)
    mirror = await work.lock_by(TenantMirror, organization_id=owner.organization_id)
    mirror.ahead = ahead
    await work.save(mirror)
    await work.finish()


async def rotated(
    api: httpx2.AsyncClient, owner: Member, key: dict[str, Any], hours: int
) -> dict[str, Any]:
    answer = await api.post(
        f"/identity/api-keys/{key['id']}/rotate",
        json={"gracePeriodHours": hours, "reason": "time"},
        headers=asking(owner),
    )
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    made = await people.member(host, uuid4(), role="owner", sandbox=True)
    await held.with_api_keys(host, made.organization_id)
    return made


async def grace(api: httpx2.AsyncClient, host: Host, owner: Member) -> list[tuple[int, str]]:
    """Old and new key before and after the grace of a day."""
    old = await made(api, owner)
    new = await rotated(api, owner, old, hours=24)
    before = [await used(api, owner, k["plaintext"]) for k in (old, new)]
    await moved(host, owner, timedelta(hours=24, seconds=1))
    return before + [await used(api, owner, k["plaintext"]) for k in (old, new)]


GRACE = [(200, ""), (200, ""), (401, "key-rotated"), (200, "")]


@pytest.mark.rule("IDN-41")
async def test_a_rotated_key_works_until_its_grace_is_over(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    answers = await grace(api, host, owner)

    told = [f"{status} {code}".strip() for status, code in answers]
    print(f"rotation: before old={told[0]} new={told[1]} after old={told[2]} new={told[3]}")
    assert answers == GRACE


async def test_a_successor_is_read_where_its_location_says(api: httpx2.AsyncClient, owner: Member):
    old = await made(api, owner)

    answer = await api.post(
        f"/identity/api-keys/{old['id']}/rotate",
        json={"gracePeriodHours": 0, "reason": "It leaked"},
        headers=owner.headers | {"X-Organization-Id": str(owner.organization_id)},
    )

    assert answer.headers["Location"] == f"/v1/identity/api-keys/{answer.json()['id']}"


async def test_a_planted_grace_without_end_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_stages, "_key", lambda facts, now: None)

    assert await grace(api, host, owner) != GRACE


@pytest.mark.rule("IDN-41")
async def test_without_grace_the_old_key_is_refused_by_the_next_call(
    api: httpx2.AsyncClient, owner: Member
):
    old = await made(api, owner)

    new = await rotated(api, owner, old, hours=0)

    assert await used(api, owner, old["plaintext"]) == (401, "key-rotated")
    assert await used(api, owner, new["plaintext"]) == (200, "")
    again = await api.post(
        f"/identity/api-keys/{old['id']}/rotate", json={"reason": "time"}, headers=asking(owner)
    )
    assert (again.status_code, again.json()["code"]) == (409, "invalid-transition")


@pytest.mark.rule("IDN-40")
async def test_the_text_is_in_one_answer_only(api: httpx2.AsyncClient, host: Host, owner: Member):
    body = {"name": "Import", "scopes": [READ], "reason": "for the import"}
    headers = asking(owner) | {"Idempotency-Key": uuid4().hex}
    since = transaction_number(host.settings)

    first = await api.post("/identity/api-keys", json=body, headers=headers)
    again = await api.post("/identity/api-keys", json=body, headers=headers)
    plaintext = first.json()["plaintext"]
    one = await api.get(f"/identity/api-keys/{first.json()['id']}", headers=asking(owner))
    many = await api.get("/identity/api-keys", headers=asking(owner))

    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json() | {"plaintext": None}
    assert plaintext.startswith("thk_test_")
    assert "hash" not in first.json().keys() | again.json().keys() | one.json().keys()
    assert first.headers["Cache-Control"] == "no-store"
    shown = [answer.text for answer in (again, one, many)]
    stored = await everything_of(host, owner, since)
    print(f"plaintext_answers=1 hits={sum(plaintext in t for t in [*shown, *stored])}")
    assert not any(plaintext in text for text in [*shown, *stored])
    assert any(first.json()["id"] in text for text in stored)


async def everything_of(host: Host, owner: Member, since: int) -> list[str]:
    """Every text of the schema that came of this organization: rows, trail, events, answers.

    Kept answers name no organization; these are what was kept since a transaction.
    """
    admin = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    found = []
    for table in ("api_key", "outbox", "audit_entry"):
        rows = await admin.fetch(
            f"SELECT t::text FROM identity.{table} t WHERE organization_id = $1",
            owner.organization_id,
        )
        found += [row[0] for row in rows]
    kept = await admin.fetch(
        "SELECT convert_from(body, 'UTF8') FROM identity.idempotency "
        "WHERE xmin::text::bigint >= $1",
        since,
    )
    assert kept
    found += [row[0] or "" for row in kept]
    await admin.close()
    return found


@pytest.mark.rule("IDN-1")
async def test_a_text_with_one_changed_character_makes_no_statement(
    api: httpx2.AsyncClient, owner: Member, monkeypatch: pytest.MonkeyPatch
):
    plaintext = (await made(api, owner))["plaintext"]
    asked: list[Any] = []

    async def counting(*arguments: Any, **more: Any) -> None:
        asked.append(arguments)

    monkeypatch.setattr(_statement, "of_key", counting)
    changed = [
        plaintext[:at] + ("x" if plaintext[at] != "x" else "y") + plaintext[at + 1 :]
        for at in range(len("thk_test_"), len(plaintext))
    ]
    answers = [await used(api, owner, text) for text in changed]

    print(f"changed_texts={len(changed)} statements={len(asked)}")
    assert set(answers) == {(401, "unauthenticated")}
    assert asked == []
    await used(api, owner, plaintext)
    assert len(asked) == 1  # the counting itself works


async def test_a_revoked_and_an_expired_key_say_so(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    gone, late = await made(api, owner), await made(api, owner)

    answer = await api.post(
        f"/identity/api-keys/{gone['id']}/revoke", json={"reason": "leaked"}, headers=asking(owner)
    )
    dead = await used(api, owner, gone["plaintext"])
    await moved(host, owner, timedelta(days=90, seconds=1))
    over = await used(api, owner, late["plaintext"])
    listed = await api.get(
        "/identity/api-keys", params={"status": "expired"}, headers=asking(owner)
    )

    assert answer.json()["statusReason"] == {"code": "revoked", "text": "leaked"}
    assert (dead, over) == ((401, "key-revoked"), (401, "key-expired"))
    assert [one["id"] for one in listed.json()["items"]] == [late["id"]]


@pytest.mark.rule("IDN-40")
async def test_a_key_acts_in_its_one_organization_within_its_scopes(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    key = await made(api, owner)
    bearer = {"Authorization": f"Bearer {key['plaintext']}"}
    other = await people.member(host, uuid4(), role="owner")
    own = f"/organizations/{owner.organization_id}/equipment"

    elsewhere = await api.get(f"/organizations/{other.organization_id}/equipment", headers=bearer)
    beyond = await api.post(own, json={"name": "Crane", "quantity": 1}, headers=bearer)
    grave = await api.post(
        "/identity/api-keys",
        json={"name": "More", "scopes": [READ], "reason": "mine"},
        headers=bearer,
    )
    personal = await api.get("/identity/sessions", headers=bearer)

    assert elsewhere.status_code == 404
    assert (beyond.status_code, beyond.json()["reasonCode"]) == (403, "key_scope_missing")
    assert (grave.status_code, grave.json()["reasonCode"]) == (403, "key_scope_missing")
    assert (personal.status_code, personal.json()["reasonCode"]) == (403, "key_scope_missing")


@pytest.mark.rule("IDN-30")
async def test_a_key_works_only_from_its_networks(api: httpx2.AsyncClient, owner: Member):
    near = await made(api, owner, allowedNetworks=["127.0.0.0/8", "2001:db8::/48"])
    far = await made(api, owner, allowedNetworks=["196.25.1.0/24"])

    refused = await api.get(
        f"/organizations/{owner.organization_id}/equipment",
        headers={"Authorization": f"Bearer {far['plaintext']}"},
    )

    assert await used(api, owner, near["plaintext"]) == (200, "")
    assert (refused.status_code, refused.json()["reasonCode"]) == (403, "network_not_allowed")
    assert near["allowedNetworks"] == ["127.0.0.0/8", "2001:db8::/48"]


@pytest.mark.rule("IDN-20")
async def test_nobody_makes_a_key_above_their_own_rights(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    administrator = await people.member(host, owner.organization_id, role="administrator")
    await denied(host, administrator, READ)

    above = await api.post(
        "/identity/api-keys",
        json={"name": "More", "scopes": [READ], "reason": "mine"},
        headers=asking(administrator),
    )
    unfit = await api.post(
        "/identity/api-keys",
        json={"name": "No", "scopes": ["identity:api_key:create", "a_b:c_d:e_f"], "reason": "x"},
        headers=asking(administrator),
    )

    assert (above.status_code, above.json()["code"]) == (403, "identity-grant-above-own")
    assert (unfit.status_code, unfit.json()["code"]) == (422, "identity-scope-unfit")
    assert unfit.json()["unfit"] == ["a_b:c_d:e_f", "identity:api_key:create"]


async def denied(host: Host, who: Member, permission: str) -> None:
    """An active deny for one member, as BELONGING's operation writes it."""
    work = people.working(host, who.organization_id)
    await people.permission(work, who, permission, effect="deny")
    await work.finish()


@pytest.mark.rule("IDN-40")
async def test_api_keys_are_limited_to_25_and_one_year(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    body = {"name": "Import", "scopes": [READ], "reason": "for the import"}
    keys = [await made(api, owner) for _ in range(settings.MOST_KEYS.default)]
    full = await api.post("/identity/api-keys", json=body, headers=asking(owner))
    await api.post(
        f"/identity/api-keys/{keys[0]['id']}/revoke", json={"reason": "x"}, headers=asking(owner)
    )
    late = (host.now() + timedelta(days=366)).isoformat().replace("+00:00", "Z")
    long = await api.post(
        "/identity/api-keys", json=body | {"expiresAt": late}, headers=asking(owner)
    )

    assert (full.status_code, full.json()["limit"], full.json()["used"]) == (422, 25, 25)
    assert (long.status_code, long.json()["code"]) == (422, "rule-violated")
    await made(api, owner)
    ends = datetime.fromisoformat(keys[1]["expiresAt"]) - host.now()
    assert timedelta(days=89) < ends <= timedelta(days=90)


async def test_keys_of_live_organizations_begin_otherwise(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    live = await people.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, live.organization_id)

    key = await made(api, live)

    assert (key["environment"], key["prefix"]) == ("live", "thk_live")
    assert tokens.parse(key["plaintext"]) is tokens.Prefix.KEY_LIVE


@pytest.mark.rule("IDN-15")
async def test_making_a_key_asks_for_a_fresh_proof(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    await people.aged(host, owner, timedelta(minutes=6))

    answer = await api.post(
        "/identity/api-keys",
        json={"name": "Import", "scopes": [READ], "reason": "x"},
        headers=asking(owner),
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "step-up-required")


@pytest.mark.rule("IDN-42")
async def test_uses_are_gathered_and_written_with_the_network_cut(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    key = await made(api, owner)
    seen = {(owner.organization_id, api_keys.UUID(key["id"])): (host.now(), "196.25.1.0/24")}

    await used(api, owner, key["plaintext"])
    await key_uses.write(host, seen)
    shown = await api.get(f"/identity/api-keys/{key['id']}", headers=asking(owner))

    assert shown.json()["lastUsedNetwork"] == "196.25.1.0/24"
    assert shown.json()["lastUsedAt"] is not None
    assert shown.json()["version"] == 1


@pytest.mark.rule("IDN-42")
async def test_time_warns_of_an_end_and_writes_it_down_once(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    key = await made(api, owner)
    told = []
    for days in (76, 76, 87, 90):
        work = people.working(host, owner.organization_id)
        work.now += timedelta(days=days, seconds=1)
        await api_keys.check_time(work, api_keys.UUID(key["id"]))
        told += [(type(e).__name__, getattr(e, "days_left", None)) for e, *_ in work._events]
        await work.finish()

    assert told == [("ApiKeyExpiring", 14), ("ApiKeyExpiring", 3), ("ApiKeyRevoked", None)]


async def test_the_sweep_ends_what_is_over(
    api: httpx2.AsyncClient, host: Host, owner: Member, settle: Settle
):
    old = await made(api, owner)
    await rotated(api, owner, old, hours=1)
    work = people.working(host, owner.organization_id)
    held = await work.lock(ApiKey, api_keys.UUID(old["id"]))
    held.grace_ends_at = held.next_check_at = work.now - timedelta(seconds=1)
    await work.save(held)
    await work.finish()

    async def ended() -> bool:
        reader = people.working(host, owner.organization_id)
        found = await reader.get(ApiKey, api_keys.UUID(old["id"]))
        await reader.close()
        return found.status == "revoked" and found.status_code == "rotated"

    assert await settle(ended)
