"""What Identity tells of API keys."""

from datetime import datetime
from uuid import UUID

from thenga.kernel.declare.event import Event


class ApiKeyCreated(Event, type="identity.ApiKeyCreated.v1", subject="api_key_id"):
    """An organization has a key; what it may do stands in its scopes."""

    organization_id: UUID
    api_key_id: UUID
    scopes: list[str]
    expires_at: datetime


class ApiKeyRotated(Event, type="identity.ApiKeyRotated.v1", subject="api_key_id"):
    """A key has a successor; it still works until `grace_ends_at`."""

    organization_id: UUID
    api_key_id: UUID
    successor_id: UUID
    grace_ends_at: datetime


class ApiKeyExpiring(Event, type="identity.ApiKeyExpiring.v1", subject="api_key_id"):
    """A key will run out soon and has no successor."""

    organization_id: UUID
    api_key_id: UUID
    expires_at: datetime
    days_left: int


class ApiKeyRevoked(Event, type="identity.ApiKeyRevoked.v1", subject="api_key_id"):
    """A key is over: taken back, replaced or expired, as `cause` says."""

    organization_id: UUID
    api_key_id: UUID
    cause: str


EVENTS = (ApiKeyCreated, ApiKeyRotated, ApiKeyExpiring, ApiKeyRevoked)
