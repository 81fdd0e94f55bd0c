"""`thenga doctor` finds what keeps letters, events and tenders from arriving."""

import asyncio
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from pydantic import SecretStr

from tests.providers.messaging import MailServer
from thenga import topology
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing import figures
from thenga.tooling.dev import doctor, running
from thenga.tooling.dev.doctor import Finding

DOMAINS = topology.load(topology.DOMAINS)


async def found(settings: Settings) -> dict[str, Finding]:
    findings = await asyncio.to_thread(running.examine, settings, DOMAINS)
    return {finding.name: finding for finding in findings}


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> MailServer:
    server = MailServer(tmp_path)
    monkeypatch.setenv("THENGA_SMTP_CA_NOTIFICATION", server.ca_file)
    return server


def mailing(settings: Settings, relay: MailServer) -> Settings:
    return settings.model_copy(update={"smtp_port": relay.port, "smtp_security": "starttls"})


async def test_a_worker_is_heard_by_its_figures(host: Host, seeded: None) -> None:
    for domain in DOMAINS:
        async with host.engines.connection(domain.name, f"{domain.name}_system") as connection:
            await connection.execute(f"DELETE FROM {domain.name}.figure")
    before = await found(host.settings)
    for domain in DOMAINS:
        await figures.write(host, domain)
    after = await found(host.settings)

    assert not before["worker"].ok
    assert "identity" in before["worker"].found
    assert after["worker"].ok
    assert after["migrations"] == Finding(
        "migrations", True, f"{len(DOMAINS)} up to date", "run `thenga migrate`"
    )


async def test_an_older_schema_is_found(settings: Settings, seeded: None, tmp_path: Path) -> None:
    domain = DOMAINS[0]
    copytree(domain.migrations, tmp_path / "migrations")
    (tmp_path / "migrations/identity_9999.py").write_text(
        'revision = "identity_9999"\ndown_revision = "identity_9998"\n'
    )
    newer = [replace(domain, home=tmp_path)]

    findings = await asyncio.to_thread(running.examine, settings, newer)

    assert [each.found for each in findings if each.name == "migrations"] == [
        "older than the code: identity"
    ]


async def test_the_mail_server_is_asked_as_letters_do(
    settings: Settings, seeded: None, relay: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = mailing(settings, relay)
    with relay:
        good = (await found(ours))["mail"]
        monkeypatch.setenv("THENGA_SMTP_USER_NOTIFICATION", "thenga")
        monkeypatch.setenv("THENGA_SMTP_PASSWORD_NOTIFICATION", "not known there")
        refused = (await found(ours))["mail"]
        monkeypatch.delenv("THENGA_SMTP_USER_NOTIFICATION")
        monkeypatch.delenv("THENGA_SMTP_CA_NOTIFICATION")
        stranger = (await found(ours))["mail"]
    gone = (await found(ours))["mail"]

    assert good.ok, good
    assert not refused.ok
    assert "not known there" not in refused.found
    assert "SSLCertVerificationError" in stranger.found
    assert "ConnectionRefusedError" in gone.found


@pytest.mark.parametrize("kind", ["system_database", "database"])
def test_a_process_examines_postgres_by_its_own_login(
    kind: str, settings: Settings, seeded: None
) -> None:
    """Only migrations have the login of the administrator."""
    without = {"admin_database": SecretStr("")}
    if kind == "database":
        without |= {"system_database": ""}  # type: ignore[dict-item]
    own = settings.model_copy(update=without)

    findings = {finding.name: finding for finding in doctor._postgres(own)}

    assert findings["postgres"].ok
    assert findings["logins"].found.endswith("all under row security")
    assert findings["clock"].ok


async def test_only_a_shared_source_that_works_counts(host: Host, seeded: None) -> None:
    change = "UPDATE opportunity.source SET status = $1, health = $2 WHERE visibility = 'shared'"
    findings = []
    async with host.engines.connection("opportunity", "opportunity_system") as connection:
        rows = await connection.fetch(
            "SELECT id, status, health FROM opportunity.source WHERE visibility = 'shared'"
        )
        try:
            for status, health in (("active", "ok"), ("active", "failing"), ("paused", "ok")):
                await connection.execute(change, status, health)
                findings.append((await found(host.settings))["tender source"])
        finally:
            for row in rows:
                await connection.execute(
                    "UPDATE opportunity.source SET status = $2, health = $3 WHERE id = $1", *row
                )

    works, fails, paused = findings
    assert (works.ok, fails.ok, paused.ok) == (True, False, False)
    assert "is failing, last success" in fails.found
    assert paused.found == "0 active"
