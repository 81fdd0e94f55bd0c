"""The lifecycles of audit reviews, findings and governance decisions."""

from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = ()
