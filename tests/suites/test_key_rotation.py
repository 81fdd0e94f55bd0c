"""The sealing key is rotated: the former opens, the new one seals, and then the former goes."""

import asyncio
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from tests.factories import (
    accounts,
    documents,
    notification_requests,
    organization,
    subscriptions,
)
from tests.factories import identity as people
from tests.suites.apart import database_apart
from thenga import topology
from thenga.domains.administration.tables import IntegrationSecret
from thenga.domains.billing.services.settlement import webhooks
from thenga.domains.billing.tables import PaymentMethod, ProviderCallback
from thenga.domains.compliance.tables import DocumentVersion
from thenga.domains.identity.services.accounts import names
from thenga.domains.identity.tables import (
    IdentityProvider,
    MfaFactor,
    OneTimeLink,
    ProviderFlow,
    ProviderTicket,
)
from thenga.domains.notification.tables import ProviderCallback as Report
from thenga.domains.notification.tables import Request
from thenga.domains.organization.services.records import sealed_values
from thenga.domains.organization.tables.secrets import DataKey
from thenga.kernel.crypto import sealing
from thenga.kernel.db import sealed
from thenga.kernel.db.migrate import Migrated
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

pytestmark = pytest.mark.rule("SEC-62")

SOURCE = Path(sealed.__file__).parents[2]
DOMAINS = topology.load(topology.DOMAINS)
_INTEGRATION = """
    INSERT INTO administration.integration_configuration (id, created_at, updated_at, version,
        kind, name, environment, target_domain, settings, settings_version, status, created_by)
    VALUES ($1, $2, $2, 1, 'notification.smtp', 'mail', 'live', 'notification', '{}', 1,
        'active', $1)
"""
_SECRET = """
    INSERT INTO administration.integration_secret (id, created_at, updated_at, version,
        integration_id, name, secret_version, bound_to, sealed, fingerprint, set_at)
    VALUES ($1, $2, $2, 1, $1, 'password', 1, $3, $4, 'x', $2)
"""


@pytest.fixture(scope="module")
def alone(settings: Settings) -> Iterator[Settings]:
    targets = [Migrated(d.name, d.migrations, d.gate) for d in DOMAINS]
    with database_apart(settings, "rotation", targets) as made:
        yield made


def with_keys(settings: Settings, key: str, former: str = "") -> Host:
    return make_host(
        settings.model_copy(
            update={"sealing_key": SecretStr(key), "sealing_keys_former": SecretStr(former)}
        )
    )


async def _filled(host: Host) -> int:
    """A value in every sealed column; how many there are."""
    who = await accounts.account(host)
    factor, _ = await accounts.totp(host, who)
    await accounts.link(host, who, purpose="change_address")
    company = uuid4()
    work = organization.working(host, uuid4(), company)
    await sealed_values.key_for(work, sealed_values.Subject("director", uuid4()))
    await work.finish()
    await documents.account(host, company)
    await subscriptions.method(host, company)
    calling = documents.system(host, None)
    told = webhooks.Received("sandbox", "first", "paid", "current", b"{}")
    assert await webhooks.receive_callback(calling, told)
    await calling.finish()
    # As it was before keys had ids.
    key = sealing.derive(bytes.fromhex(_key_of(host)), b"thenga/totp/v1")
    unnamed = sealing.seal(key, accounts.SECRET, aad=factor.id.bytes)
    async with host.engines.connection("identity", "identity_system") as connection:
        text = "UPDATE identity.mfa_factor SET secret_sealed = $2 WHERE id = $1"
        await connection.execute(text, factor.id, unnamed)
        # The link of a letter that is not handed over yet.
        (digest,) = await connection.fetchrow("SELECT hash FROM identity.one_time_link LIMIT 1")
        link = sealed.seal(host, OneTimeLink, "sealed", b"thl_x", hash=digest)
        await connection.execute(
            "UPDATE identity.one_time_link SET sealed = $2 WHERE hash = $1", digest, link
        )
    return 6 + await _filled_messages(host) + await _filled_integration(host)


async def _filled_messages(host: Host) -> int:
    """A request with a sealed fact and address, and a report of a provider."""
    request_id, callback_id = new_id(), new_id()
    await notification_requests.request(
        host,
        uuid4(),
        id=request_id,
        sealed_facts=sealed.seal(host, Request, "sealed_facts", b"{}", id=request_id),
        sealed_addresses=sealed.seal(host, Request, "sealed_addresses", b"{}", id=request_id),
    )
    work = notification_requests.working(host, uuid4())
    await work.add(
        Report(
            id=callback_id,
            channel_id=uuid4(),
            dedup_key="first",
            received_at=work.now,
            sealed_content=sealed.seal(host, Report, "sealed_content", b"{}", id=callback_id),
        )
    )
    await work.finish()
    return 3


async def _filled_integration(host: Host) -> int:
    async with (
        host.engines.connection("administration", "administration_system") as connection,
        connection.transaction(),
    ):
        bound = b"administration/integration/x/password/1"
        value = sealed.seal(host, IntegrationSecret, "sealed", b"secret", bound_to=bound)
        integration_id = new_id()
        await connection.execute(_INTEGRATION, integration_id, host.now())
        await connection.execute(_SECRET, integration_id, host.now(), bound, value)
    return 1


def _key_of(host: Host) -> str:
    return host.settings.sealing_key.get_secret_value()


async def _opened(host: Host) -> int:
    """How many sealed values these keys open, over all columns that hold any."""
    found = 0
    for domain in DOMAINS:
        for row, column, _ in sealed.columns(domain.name):
            text = f"SELECT {', '.join(row.__columns__)} FROM {row.__table__.fullname}"
            async with host.engines.connection(domain.name, f"{domain.name}_system") as connection:
                for record in await connection.fetch(f"{text} WHERE {column} IS NOT NULL"):
                    try:
                        sealed.unseal(host, row.load(record), column)
                    except sealing.BrokenSeal:
                        continue
                    found += 1
    return found


@pytest.mark.prove
async def test_after_a_rotation_the_former_key_can_go(alone: Settings, tmp_path: Path) -> None:
    old, new = secrets.token_hex(32), secrets.token_hex(32)
    first, both, last = with_keys(alone, old), with_keys(alone, new, old), with_keys(alone, new)
    wanted = await _filled(first)
    before = [await _opened(host) for host in (first, both, last)]

    env = os.environ | {
        "THENGA_SYSTEM_DATABASE": alone.system_database,
        "THENGA_SEALING_KEY": new,
        "THENGA_SEALING_KEYS_FORMER": old,
    }
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "thenga", "reseal"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    after = [await _opened(host) for host in (first, both, last)]
    left = sum([await sealed.waiting(last, domain.name) for domain in DOMAINS])
    print(f"\nrotation values={wanted} opened_before={before} opened_after={after} left={left}")

    assert done.returncode == 0, done.stderr
    assert "old keys can be removed" in done.stdout
    assert before == [wanted, wanted, 0]
    assert after == [0, wanted, wanted]
    assert left == 0
    # What rows are found by is not derived from the sealing key.
    email = "lindiwe@mokoena.co.za"
    assert names.account_key(first, email) == names.account_key(last, email)
    for host in (first, both, last):
        await host.engines.close()


async def test_the_job_reseals_too(alone: Settings) -> None:
    key, newer = secrets.token_hex(32), secrets.token_hex(32)
    first, both = with_keys(alone, key), with_keys(alone, newer, key)
    who = await accounts.account(first)
    await accounts.totp(first, who)
    for domain in DOMAINS:
        assert domain.jobs is not None
        assert "reseal_columns" in domain.jobs.declared
    found = people.working(both)
    async with both.engines.connection("identity", "identity_system") as connection:
        # What the other test sealed is under keys that this one does not have.
        await connection.execute(
            "UPDATE identity.mfa_factor SET secret_sealed = NULL WHERE user_id <> $1", who.user_id
        )
        await connection.execute("DELETE FROM identity.one_time_link")
    job = next(d.jobs for d in DOMAINS if d.name == "identity")
    assert job is not None
    await job.declared["reseal_columns"].body(found)
    await found.close()

    assert await sealed.waiting(both, "identity") == 0
    for host in (first, both):
        await host.engines.close()


def test_domains_seal_only_in_declared_columns() -> None:
    """Only the kernel and the start hold the keys of the deployment, so no column escapes."""
    uses = [
        f"{path.relative_to(SOURCE)}: {found}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ("kernel", "starting.py")
        for found in re.findall(r"\.ring\([^)]*\)|sealing_key\b", path.read_text())
    ]
    known = {
        (row.__table__.fullname, column)
        for d in DOMAINS
        for row, column, _ in sealed.columns(d.name)
    }
    print(f"\nsealed_columns={len(known)}")

    assert uses == []
    assert known == {
        (MfaFactor.__table__.fullname, "secret_sealed"),
        (OneTimeLink.__table__.fullname, "sealed"),
        (OneTimeLink.__table__.fullname, "address_sealed"),
        (PaymentMethod.__table__.fullname, "sealed_token"),
        (ProviderCallback.__table__.fullname, "sealed_content"),
        (DataKey.__table__.fullname, "sealed_key"),
        (Request.__table__.fullname, "sealed_facts"),
        (Request.__table__.fullname, "sealed_addresses"),
        (Report.__table__.fullname, "sealed_content"),
        (IntegrationSecret.__table__.fullname, "sealed"),
        (IdentityProvider.__table__.fullname, "secret_sealed"),
        (ProviderFlow.__table__.fullname, "verifier_sealed"),
        (ProviderTicket.__table__.fullname, "exchange_sealed"),
        (ProviderTicket.__table__.fullname, "person_sealed"),
        (DocumentVersion.__table__.fullname, "attributes_sealed"),
    }
