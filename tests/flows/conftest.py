"""What flows with Billing share."""

import pytest
from fastapi import FastAPI

from thenga.kernel.host import Host


@pytest.fixture
def paid_for(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A deployment that has Billing, in one process."""
    host: Host = app.state.shared.host
    monkeypatch.setattr(host.settings, "without_billing", False)
    return host
