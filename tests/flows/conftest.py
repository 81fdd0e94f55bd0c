"""What flows with Billing share."""

from uuid import uuid4

import pytest
from fastapi import FastAPI

from thenga.domains.billing import public as billing
from thenga.kernel.host import Host


@pytest.fixture
async def paid_for(app: FastAPI, seeded: None) -> Host:
    """A deployment that has Billing, in one process, which has answered before: on a busy machine
    the first answer of a process may take longer than the gate waits."""
    host: Host = app.state.shared.host
    port = host.bindings.of(billing.Entitlements)
    await port.signal(organization_id=uuid4(), feature="identity.api_access")
    return host
