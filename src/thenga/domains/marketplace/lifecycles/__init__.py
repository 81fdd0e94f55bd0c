"""Which moves exist in Marketplace."""

from thenga.domains.marketplace.lifecycles.listings import ListingLifecycle, VersionLifecycle
from thenga.domains.marketplace.lifecycles.quote_requests import (
    QuoteRecipientLifecycle,
    QuoteRequestLifecycle,
)
from thenga.domains.marketplace.lifecycles.support import SupportRequestLifecycle
from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = (
    ListingLifecycle,
    VersionLifecycle,
    QuoteRequestLifecycle,
    QuoteRecipientLifecycle,
    SupportRequestLifecycle,
)
