"""Sign-in by a provider of OpenID Connect, and the links of people to providers (IDN-16)."""

from thenga.domains.identity.services.providers.catalogue import (
    KIND,
    ProviderUnknown,
    follow_integration,
    record_provider,
)
from thenga.domains.identity.services.providers.flows import StartedFlow, end_flow, start_flow
from thenga.domains.identity.services.providers.links import (
    LastMethod,
    LinkRequired,
    list_identities,
    unlink,
)
from thenga.domains.identity.services.providers.purging import purge
from thenga.domains.identity.services.providers.signing_in import ProviderPending, sign_in
from thenga.domains.identity.services.providers.tickets import (
    exchange_of,
    record_redeemed,
    redeem_ticket,
)

__all__ = [
    "KIND",
    "LastMethod",
    "LinkRequired",
    "ProviderPending",
    "ProviderUnknown",
    "StartedFlow",
    "end_flow",
    "exchange_of",
    "follow_integration",
    "list_identities",
    "purge",
    "record_provider",
    "record_redeemed",
    "redeem_ticket",
    "sign_in",
    "start_flow",
    "unlink",
]
