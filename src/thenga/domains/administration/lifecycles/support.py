"""The lifecycles of support cases."""

from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = ()
