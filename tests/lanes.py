"""Which lane a test runs in: the gate (`make check`) or the proof (`make prove`).

A test marked `prove` runs in the gate only when the submission changes its file, or a file that
brings its suite back; one that `needs` what not every machine has, never. `make check-domain` runs
what belongs to one domain.
"""

import os

import pytest

from tests.submission import ROOT, submission

_EDGE = ("test_edge_bodies", "test_edge_headers", "test_edge_limits")
_EVENTS = ("test_late_commit", "test_amnesia", "test_kill")
_JOBS = ("test_kill", "test_callback_kill", "test_clock")
_GATE = ("test_revocation", "test_topology")
_KERNEL = "src/thenga/kernel/"
_DECISIONS = "src/thenga/domains/identity/services/decisions/"

# A changed file, and the suites of tests/suites/ that it brings back into the gate.
BROUGHT_BACK: dict[str, tuple[str, ...]] = {
    "deploy/Caddyfile": ("test_proxy",),
    f"{_KERNEL}http/serving.py": (*_EDGE, "test_proxy"),
    f"{_KERNEL}http/bounds.py": _EDGE,
    f"{_KERNEL}http/limits.py": _EDGE,
    f"{_KERNEL}events/relay.py": _EVENTS,
    f"{_KERNEL}events/outbox.py": _EVENTS,
    f"{_KERNEL}events/mesh.py": _EVENTS,
    f"{_KERNEL}events/leadership.py": _EVENTS,
    f"{_KERNEL}events/inbox.py": ("test_amnesia", "test_kill"),
    f"{_KERNEL}events/consumer.py": ("test_amnesia", "test_kill"),
    f"{_KERNEL}events/delivery.py": ("test_amnesia", "test_kill"),
    f"{_KERNEL}db/idempotency.py": ("test_kill",),
    f"{_KERNEL}db/flush.py": ("test_kill", "test_late_commit"),
    f"{_KERNEL}db/pool.py": ("test_fifteen_domains", "test_revocation"),
    f"{_KERNEL}db/pool_bound.py": ("test_fifteen_domains",),
    f"{_KERNEL}jobs/runner.py": (*_JOBS, "test_fifteen_domains"),
    f"{_KERNEL}jobs/fence.py": _JOBS,
    f"{_KERNEL}jobs/lease.py": _JOBS,
    f"{_KERNEL}jobs/due.py": ("test_clock",),
    f"{_KERNEL}jobs/resealing.py": ("test_key_rotation",),
    f"{_KERNEL}crypto/sealing.py": ("test_key_rotation",),
    f"{_KERNEL}db/sealed.py": ("test_key_rotation",),
    f"{_KERNEL}outside/isolation.py": ("test_isolation",),
    f"{_KERNEL}outside/isolated_child.py": ("test_isolation",),
    f"{_KERNEL}access/gate.py": _GATE,
    f"{_KERNEL}ports/remote.py": _GATE,
    f"{_KERNEL}http/port_routes.py": _GATE,
    f"{_DECISIONS}_stages.py": _GATE,
    "src/thenga/worker.py": ("test_kill", "test_fifteen_domains"),
    "src/thenga/domains/billing/services/usage/recording.py": ("test_usage_load",),
}
# The walks over all operations; a planted bug asks for operations of more than one domain.
WALKS = tuple(
    f"tests/suites/test_{name}.py"
    for name in (
        *("tenants_matrix", "schema_fuzz", "examples", "locations", "sorts"),
        *("sweeps_routes", "sweeps_moves", "sweeps_events", "sweeps_tables"),
    )
)


PROVE_ONLY = pytest.StashKey[int]()  # how many tests are left to `make prove`


def suites_back() -> frozenset[str]:
    """The files of suites that the submission brings back."""
    changes = submission()
    files = BROUGHT_BACK if changes is None else changes.lines
    names = {name for file in files for name in BROUGHT_BACK.get(file, ())}
    return frozenset(f"tests/suites/{name}.py" for name in names)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this lane does not run."""
    domain, back = os.environ.get("THENGA_DOMAIN"), suites_back()
    proof, changes = os.environ.get("THENGA_PROVE") == "1", submission()
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    prove_only = 0
    for item in items:
        file, prove = file_of(item.nodeid), item.get_closest_marker("prove")
        returns = file in back or (changes is not None and file in changes.lines)
        later = prove and not proof and ("needs" in prove.kwargs or not returns)
        prove_only += bool(later)
        other = domain and not _belongs(item, file, domain)
        (left if later or other else taken).append(item)
    config.stash[PROVE_ONLY] = prove_only
    config.hook.pytest_deselected(items=left)
    items[:] = taken


def files_of(domain: str) -> list[str]:
    """Where the tests of a domain are; those of other domains among them are left out."""
    if not (ROOT / "tests/domains" / domain).is_dir():
        raise SystemExit("name a domain: make check-domain D=billing")
    return [f"tests/domains/{domain}", "tests/flows", *WALKS]


def _belongs(item: pytest.Item, file: str, domain: str) -> bool:
    if file in WALKS:
        return "planted" not in item.name
    marker = item.get_closest_marker("domains")
    named = marker is not None and domain in marker.args
    return named or file.startswith(f"tests/domains/{domain}/")


def may_run_again(item: pytest.Item) -> bool:
    """Whether a failure may be tried once more: never where it may be a leak or a double charge,
    and never for a planted bug or a test that the submission changed."""
    if item.get_closest_marker("no_retry") or "planted" in item.name:
        return False
    return not is_changed(item)


def is_changed(item: pytest.Item) -> bool:
    changes, function = submission(), getattr(item, "function", None)
    if changes is None or function is None:
        return False
    return changes.changes(file_of(item.nodeid), function)


def file_of(test: str) -> str:
    return test.partition("::")[0]
