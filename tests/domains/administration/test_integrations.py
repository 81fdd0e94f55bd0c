"""Integrations: secrets are set, rotated and handed out sealed, and never read back."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.canaries import sightings
from tests.conftest import Time
from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.identity import Person
from tests.planting import plant
from thenga.domains.administration.jobs.integrations import purge_replaced_secrets
from thenga.domains.administration.public import Integrations, SealedIntegration, open_secret
from thenga.domains.administration.services.integrations import secrets as secret_store
from thenga.domains.administration.tables import (
    AdminAction,
    IntegrationConfiguration,
    IntegrationSecret,
)
from thenga.kernel.crypto.sealing import BrokenSeal
from thenga.kernel.db import sealed as sealing
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

PATH = "/administration/integration-configurations"
WHY = {"reason": "Set up for the launch"}
SMTP = {
    "host": "smtp.example.test",
    "port": 587,
    "username": "thenga",
    "fromAddress": "hello@example.test",
}


@pytest.fixture
async def operator(host: Host, seeded: None) -> Person:
    return await people.staff(host, "platform_operator")


def body(**more: Any) -> dict[str, Any]:
    name = f"relay-{uuid4().hex[:10]}"
    usual = {"kind": "notification.smtp", "name": name, "environment": "sandbox"}
    return usual | {"settings": SMTP, **WHY} | more


def canary() -> str:
    return f"canary{uuid4().hex}"


async def handed_out(app: FastAPI, integration_id: str) -> SealedIntegration:
    port = app.state.shared.host.bindings.of(Integrations)
    found = await port.sealed(
        target_domain="notification", kind="notification.smtp", environment="sandbox"
    )
    (one,) = [one for one in found if str(one.id) == integration_id]
    assert isinstance(one, SealedIntegration)
    return one


@pytest.mark.rule("ADM-40")
async def test_a_secret_is_rotated_with_a_grace(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person, clock: Time
):
    old, new = "first password", "second password"
    created = await api.post(PATH, json=body(secrets={"password": old}), headers=operator.headers)
    path = f"{PATH}/{created.json()['id']}"
    await api.post(f"{path}/activate", json=WHY, headers=operator.headers)
    rotated = await api.put(
        f"{path}/secrets/password",
        json={"value": new, "graceHours": 1, **WHY},
        headers=operator.headers,
    )
    during = await handed_out(app, created.json()["id"])
    work = made.system(host)
    work.now += timedelta(hours=2)
    await purge_replaced_secrets.body(work)
    await work.finish()
    after = await handed_out(app, created.json()["id"])

    (shown,) = rotated.json()["secrets"]
    assert shown["fingerprint"] != created.json()["secrets"][0]["fingerprint"]
    assert (shown["secretVersion"], shown["ageDays"]) == (2, 0)
    assert shown["previousUntil"] is not None
    opened = [(one.version, open_secret(host, one)) for one in during.secrets]
    assert opened == [(2, new), (1, old)]
    assert [one.version for one in after.secrets] == [2]
    acts = await made.rows(host, AdminAction, resource_id=created.json()["id"])
    assert acts[-1].changes == [
        {
            "pointer": "/secrets/password",
            "before": None,
            "after": {"sealed": shown["fingerprint"]},
        }
    ]


@pytest.mark.rule("ADM-37")
async def test_a_sealed_value_moved_to_another_row_does_not_open(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, operator: Person
):
    ids = []
    for _ in range(2):
        created = await api.post(
            PATH, json=body(secrets={"password": canary()}), headers=operator.headers
        )
        ids.append(created.json()["id"])
        await api.post(f"{PATH}/{ids[-1]}/activate", json=WHY, headers=operator.headers)
    first, second = [(await handed_out(app, one)).secrets[0] for one in ids]

    with pytest.raises(BrokenSeal):
        open_secret(host, first.model_copy(update={"sealed": second.sealed}))


async def places_of_secrets(
    api: httpx2.AsyncClient,
    settings: Settings,
    operator: Person,
    capfd: pytest.CaptureFixture[str],
) -> tuple[int, list[str]]:
    """Set, rotate and fail with canaries, and search everything that is kept or answered."""
    secrets = [canary() for _ in range(12)]
    answers = []

    async def send(method: str, path: str, sent: dict[str, Any], **headers: str) -> httpx2.Response:
        answer = await api.request(
            method, path, json=sent | WHY, headers=operator.headers | headers
        )
        answers.append(answer.text + str(answer.headers))
        return answer

    key = {"Idempotency-Key": uuid4().hex}
    first = body(secrets={"password": secrets[0]})
    created = await send("POST", PATH, first, **key)
    path = f"{PATH}/{created.json()['id']}"
    await send("POST", PATH, first, **key)  # replayed
    await send("POST", PATH, first | {"secrets": {"password": secrets[1]}}, **key)
    await send("POST", PATH, first | {"secrets": {"password": secrets[2]}})  # duplicate
    await send("POST", PATH, body(secrets={"pin": secrets[3]}))
    await send("POST", PATH, body(secrets={"password": [secrets[4]]}))
    await send("POST", PATH, body(settings={"password": secrets[5]}))
    await send("POST", PATH, body(secrets={"password": secrets[6] * 500}))
    for number in (7, 8):
        await send("PUT", f"{path}/secrets/password", {"value": secrets[number]})
    await send("PUT", f"{path}/secrets/pin", {"value": secrets[9]})
    await send("PUT", f"{path}/secrets/password", {"value": secrets[10], "graceHours": 721})
    await send("PUT", f"{path}/secrets/password", {"value": {"is": secrets[11]}})
    await send("POST", f"{path}/activate", {})
    answers += [(await api.get(one, headers=operator.headers)).text for one in (PATH, path)]
    hits = await sightings(settings, ["administration", "identity"], *secrets)
    logged = "".join(capfd.readouterr())
    hits += ["answer" for text in answers for one in secrets if one in text]
    hits += ["log" for one in secrets if one in logged]
    return len(answers), hits


@pytest.mark.rule("ADM-39")
async def test_no_secret_is_found_anywhere(
    api: httpx2.AsyncClient,
    settings: Settings,
    operator: Person,
    capfd: pytest.CaptureFixture[str],
):
    answers, hits = await places_of_secrets(api, settings, operator, capfd)

    print(f"canaries=12 places={answers} answers, 2 schemas, logs hits={len(hits)}")
    assert hits == []


async def test_planted_secret_that_is_stored_readable_is_found(
    api: httpx2.AsyncClient,
    settings: Settings,
    operator: Person,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    def unsealed(host: Host, row: Any, column: str, plaintext: bytes, **bound_to: Any) -> bytes:
        return plaintext

    plant(monkeypatch, sealing, "seal", unsealed)
    assert secret_store.seal is unsealed

    _, hits = await places_of_secrets(api, settings, operator, capfd)

    assert "administration.integration_secret" in hits


async def test_an_integration_is_activated_with_all_secrets(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    created = await api.post(PATH, json=body(), headers=operator.headers)
    path = f"{PATH}/{created.json()['id']}"
    early = await api.post(f"{path}/activate", json=WHY, headers=operator.headers)
    await api.put(f"{path}/secrets/password", json={"value": "x", **WHY}, headers=operator.headers)
    active = await api.post(f"{path}/activate", json=WHY, headers=operator.headers)
    again = await api.post(f"{path}/activate", json=WHY, headers=operator.headers)
    await people.aged(host, operator, timedelta(minutes=6))
    paused = await api.post(f"{path}/pause", json=WHY, headers=operator.headers)
    unproven = await api.post(f"{path}/activate", json=WHY, headers=operator.headers)

    assert (early.status_code, early.json()["code"]) == (409, "administration-secret-missing")
    assert (early.json()["missing"], created.json()["status"]) == (["password"], "pending")
    assert (active.json()["status"], again.json()) == ("active", active.json())
    assert (paused.status_code, paused.json()["status"]) == (200, "paused")
    assert (unproven.status_code, unproven.json()["code"]) == (403, "step-up-required")


async def test_settings_are_checked_by_their_kind(api: httpx2.AsyncClient, operator: Person):
    provider = {
        "issuer": "https://user:pass@login.example.test",
        "clientId": "thenga",
        "displayName": "Example",
    }

    refused = await api.post(
        PATH, json=body(kind="identity.provider", settings=provider), headers=operator.headers
    )
    provider["issuer"] = "https://login.example.test"
    created = await api.post(
        PATH, json=body(kind="identity.provider", settings=provider), headers=operator.headers
    )
    path = f"{PATH}/{created.json()['id']}"
    changed = await api.patch(
        path, json={"settings": {"trustsEmail": True}, **WHY}, headers=operator.headers
    )
    same = await api.patch(
        path, json={"settings": {"trustsEmail": True}, **WHY}, headers=operator.headers
    )

    assert (refused.status_code, refused.json()["code"]) == (422, "administration-settings-invalid")
    assert refused.json()["errors"][0]["pointer"] == "/settings/issuer"
    assert "pass" not in refused.text
    assert created.json()["settings"]["algorithms"] == ["RS256"]
    assert changed.json()["settings"] == created.json()["settings"] | {"trustsEmail": True}
    assert changed.json()["settingsVersion"] == 2
    assert same.json()["version"] == changed.json()["version"]


async def test_integrations_are_listed_by_rotation(
    api: httpx2.AsyncClient, host: Host, operator: Person
):
    created = await api.post(PATH, json=body(secrets={"password": "x"}), headers=operator.headers)
    fresh = await api.post(PATH, json=body(secrets={"password": "x"}), headers=operator.headers)
    (secret,) = await made.rows(host, IntegrationSecret, integration_id=created.json()["id"])
    work = made.system(host)
    held = await work.lock(IntegrationSecret, secret.id)
    held.set_at -= timedelta(days=181)
    await work.save(held)
    await work.finish()

    due = await api.get(f"{PATH}?rotationDue=true", headers=operator.headers)
    query = "rotationDue=false&kind=notification.smtp&environment=sandbox&status=pending"
    rest = await api.get(f"{PATH}?{query}&targetDomain=notification", headers=operator.headers)

    assert created.json()["id"] in [one["id"] for one in due.json()["items"]]
    assert fresh.json()["id"] not in [one["id"] for one in due.json()["items"]]
    assert fresh.json()["id"] in [one["id"] for one in rest.json()["items"]]
    assert await made.rows(host, IntegrationConfiguration, id=created.json()["id"])
