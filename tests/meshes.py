"""Who reads whose events in the tests: the domains by their manifests, and those of tests."""

from thenga import topology
from thenga.kernel.events import accounts


def reads() -> accounts.Reads:
    known = accounts.reads_of(topology.load(topology.DOMAINS))
    return {
        **known,
        "probe": ["administration", "organization"],
    }
