"""Integrations with providers: their settings, and secrets that only the target opens."""

from abc import abstractmethod
from base64 import b64decode
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from thenga.kernel.db.sealed import unseal_copy
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port
from thenga.kernel.process.host import Host

Environment = Literal["live", "sandbox"]


class SealedSecret(BaseModel):
    """One version of a secret, sealed under the platform's key for integrations.

    `aad` is `administration/integration/<id>/<name>/<version>`; a value that was moved to
    another row does not open. After a rotation the previous version is handed out until
    `until`.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    version: int
    sealed: str
    aad: str
    until: datetime | None = None


def open_secret(host: Host, secret: SealedSecret) -> str:
    """The value, for the adapter of the target domain when it calls; store it nowhere."""
    copy, aad = b64decode(secret.sealed), secret.aad.encode()
    return unseal_copy(host, "integration", copy, aad=aad).decode()


class SealedIntegration(BaseModel):
    """An active integration of a domain."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    kind: str
    name: str
    settings: dict[str, JsonValue]
    settings_version: int
    secrets: list[SealedSecret]


class Integrations(Port, name="administration.integrations", timeout=1.0):
    """Hands out integrations. If nobody answers, the last known one is valid for 15 minutes."""

    @abstractmethod
    async def sealed(
        self, *, target_domain: str, kind: str, environment: Environment
    ) -> list[SealedIntegration]:
        """The active integrations of this kind, in the order of their names."""


class SecretVersion(BaseModel):
    """The version of a secret, without its value."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    name: str
    version: int


class IntegrationConfigurationChanged(
    Event, type="administration.IntegrationConfigurationChanged.v1", subject="integration_id"
):
    """An integration was created, changed, activated or paused, or a secret was set."""

    integration_id: UUID
    kind: str
    target_domain: str
    environment: Environment
    status: Literal["pending", "active", "paused"]
    settings_version: int
    secrets: list[SecretVersion]


EVENTS = (IntegrationConfigurationChanged,)
