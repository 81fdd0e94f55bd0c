"""What Administration stores: schema `administration`."""

from thenga.domains.administration.tables.actions import AdminAction
from thenga.domains.administration.tables.configuration import (
    ConfigurationStatus,
    ConfigurationVersion,
    Declaration,
    DeclarationStatus,
)
from thenga.domains.administration.tables.integrations import (
    IntegrationConfiguration,
    IntegrationSecret,
    IntegrationStatus,
)
from thenga.domains.administration.tables.modes import TenantMode
from thenga.domains.administration.tables.policies import (
    PolicyConfiguration,
    PolicyKind,
    PolicyStatus,
)

__all__ = [
    "AdminAction",
    "ConfigurationStatus",
    "ConfigurationVersion",
    "Declaration",
    "DeclarationStatus",
    "IntegrationConfiguration",
    "IntegrationSecret",
    "IntegrationStatus",
    "PolicyConfiguration",
    "PolicyKind",
    "PolicyStatus",
    "TenantMode",
]
