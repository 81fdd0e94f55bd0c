"""Settings and policies that take effect in the domains that declare them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event


class Scope(BaseModel):
    """Where a value applies: on the whole platform, or in one organization."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    kind: Literal["platform", "organization"] = "platform"
    organization_id: UUID | None = None


class ConfigurationChanged(
    Event, type="administration.ConfigurationChanged.v1", subject="config_id"
):
    """A version of a setting was approved. It applies from `effective_from`."""

    config_id: UUID
    key: str
    scope: Scope = Scope()
    number: int
    effective_from: datetime
    value: JsonValue
    rollback_of: UUID | None = None


class PolicyConfigurationChanged(
    Event, type="administration.PolicyConfigurationChanged.v1", subject="config_id"
):
    """A policy was published. The target domain applies it and acknowledges its `version`."""

    config_id: UUID
    target_domain: str
    policy_key: str
    scope: Scope = Scope()
    version: int
    effective_from: datetime
    kind: Literal["parameters", "access"]
    document: JsonValue
    document_hash: str
    rollback_of: UUID | None = None


EVENTS = (ConfigurationChanged, PolicyConfigurationChanged)
