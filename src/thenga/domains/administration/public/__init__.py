"""What other domains may know of Administration: changes of settings and policies."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event


class Scope(BaseModel):
    """For whom a version counts: the whole platform, or one organization."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    kind: Literal["platform", "organization"] = "platform"
    organization_id: UUID | None = None


class ConfigurationChanged(
    Event, type="administration.ConfigurationChanged.v1", subject="config_id"
):
    """A version of a setting was approved; it counts from `effectiveFrom`."""

    config_id: UUID
    key: str
    scope: Scope = Scope()
    number: int
    effective_from: datetime
    value: Any
    rollback_of: int | None = None


class PolicyConfigurationChanged(
    Event, type="administration.PolicyConfigurationChanged.v1", subject="config_id"
):
    """A version of a policy was published for the domain that enforces it."""

    config_id: UUID
    target_domain: str
    policy_key: str
    scope: Scope = Scope()
    version: int
    effective_from: datetime
    kind: Literal["parameters", "access"]
    document: Any
    document_hash: str
    rollback_of: int | None = None


EVENTS = (ConfigurationChanged, PolicyConfigurationChanged)

__all__ = ["EVENTS", "ConfigurationChanged", "PolicyConfigurationChanged", "Scope"]
