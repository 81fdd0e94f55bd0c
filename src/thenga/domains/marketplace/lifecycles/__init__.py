"""Which moves exist in Marketplace."""

from thenga.domains.marketplace.lifecycles.listings import ListingLifecycle, VersionLifecycle
from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = (ListingLifecycle, VersionLifecycle)
