"""Fifteen domains will have about 750 operations; what grows with them is known before they come.

`make prove P=grown` walks them all; here is what is cheap at that size.
"""

import time

import pytest

from tests.suites import growing
from thenga.domains.organization import manifest
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import ByPath, Operation, mounted, operations

FURTHER = 130


@pytest.fixture(scope="module")
def domain() -> Domain:
    return growing.grown(manifest.DOMAIN, FURTHER)


def test_further_operations_have_names_and_paths_of_their_own(domain: Domain) -> None:
    every = operations([domain])

    further = [one for one in every if growing.original(one.name) != one.name]
    assert len(further) == FURTHER
    assert len({(one.method, one.path) for one in every}) == len(every)
    assert {growing.original(one.name) for one in further} <= {one.name for one in every}
    assert all(one.permission == _original(every, one).permission for one in further)


def _original(every: list[Operation], one: Operation) -> Operation:
    return next(known for known in every if known.name == growing.original(one.name))


@pytest.mark.prove
def test_document_and_dispatch_grow_at_most_linearly(
    domain: Domain,
) -> None:
    """Both were quadratic once."""
    small, large = _costs(manifest.DOMAIN), _costs(domain)

    ratio = len(operations([domain])) / len(operations([manifest.DOMAIN]))
    print(f"operations={ratio:.1f} times document={large[0] / small[0]:.1f} times")
    assert large[0] < small[0] * ratio * 2
    assert large[1] < small[1] * ratio * 2


def _costs(domain: Domain) -> tuple[float, float]:
    """CPU of making the document, and of finding each operation by its path."""
    every = operations([domain])
    began = time.process_time()
    document(mounted([domain]).routes, [domain])
    made, known = time.process_time(), ByPath(every)
    for _ in range(20):
        for one in every:
            assert known.find(one.method, one.path.replace("{", "").replace("}", "")) is one
    return made - began, time.process_time() - made
