"""What flows share: a deployment that is paid for, and a scanner of files."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI

from thenga.domains.billing import public as billing
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers


@pytest.fixture
async def paid_for(app: FastAPI, seeded: None) -> Host:
    """A deployment that has Billing, in one process, which has answered before: on a busy machine
    the first answer of a process may take longer than the gate waits."""
    host: Host = app.state.shared.host
    port = host.bindings.of(billing.Entitlements)
    await port.signal(organization_id=uuid4(), feature="identity.api_access")
    return host


@pytest.fixture(scope="module")
def scanner(home: Path) -> Iterator[None]:
    """ClamAV, for flows in which papers are uploaded."""
    servers.start(home, "clamav")
    yield
    servers.stop(home, "clamav")
