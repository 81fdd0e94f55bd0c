"""Further operations, to see what the walks cost once all fifteen domains stand.

Not committed as domains: Organization's operations stand beside themselves under other names and
paths, on the same services and tables, so a walk over them does real work. A plugin of pytest:
`make prove P=grown` gives it to the walks, with `THENGA_GROWN` for how many operations there are.
"""

import functools
import inspect
import itertools
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI

from tests.submission import Submission
from tests.suites import calls, corpus, processes, rotation
from tests.suites.calls import facts
from thenga import main, topology
from thenga.domains.organization import manifest
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.document import examples, published
from thenga.kernel.http.document.examples import Example
from thenga.kernel.http.document.operations import operations
from thenga.kernel.http.doors import Door

MARK = "Again"
# What a suite knows by its name, or of which an organization has one for all that name it.
_ONCE = ("create_organization", "move_clock", *facts.KEYS)
_COPIED = re.compile(rf"(\w+?){MARK}\d+")


def original(name: str) -> str:
    """The operation that one of the further ones was made from, or itself."""
    found = _COPIED.fullmatch(name)
    return found[1] if found else name


def grown(domain: Domain, further: int) -> Domain:
    """The domain with so many operations more; reading first, so that what is made can be read."""
    routes = [
        route
        for router in domain.routers
        for route in router.routes
        if isinstance(route, Door) and route.include_in_schema and route.name not in _ONCE
    ]
    routes.sort(key=lambda route: "GET" not in (route.methods or ()))
    again = (_beside(route, number) for number in itertools.count(2) for route in routes)
    return replace(domain, routers=[*domain.routers, *itertools.islice(again, further)])


def _beside(route: Door, number: int) -> APIRouter:
    """A router with one operation under another name and path."""
    made = APIRouter(tags=route.tags, route_class=Door)
    made.add_api_route(
        f"/again-{number}{route.path}",
        _renamed(route.endpoint, f"{route.name}{MARK}{number}"),
        methods=sorted(route.methods or ()),
        response_model=route.response_model,
        status_code=route.status_code,
        responses=route.responses,
        response_class=route.response_class,
        summary=route.summary,
        description=route.description,
    )
    return made


def _renamed(endpoint: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(endpoint)
    async def again(**given: Any) -> Any:
        return await endpoint(**given)

    again.__signature__ = inspect.signature(endpoint)  # read by FastAPI
    del again.__wrapped__  # type: ignore[attr-defined]  # an operation has the name of its function
    again.__name__ = name
    return again


def grow(total: int) -> list[str]:
    """Let Organization's manifest have the further operations; their names."""
    known = {one.name for one in operations(topology.load(topology.DOMAINS))}
    manifest.DOMAIN = grown(manifest.DOMAIN, total - len(known))
    every = [one.name for one in operations(topology.load(topology.DOMAINS))]
    return [name for name in every if name not in known]


def _teach(names: list[str]) -> None:
    """What walks know of an operation by its name, they know of the further ones."""
    for name in names:
        calls.MAKERS[name] = calls.MAKERS[original(name)]
        if original(name) in calls.QUERIES:
            calls.QUERIES[name] = calls.QUERIES[original(name)]
    recorded, stored = examples.load, corpus.Corpus.cases

    def load(domain: Domain) -> dict[str, Example]:
        shown = recorded(domain)
        return shown | {n: shown[original(n)] for n in names if original(n) in shown}

    def cases(self: corpus.Corpus, operation: Any) -> Any:
        """As stored for the original: the paths differ, and nothing of them is drawn."""
        name = operation.definition.raw["operationId"]
        if name not in names:
            return stored(self, operation)
        found = self._stored[original(name)]
        return {
            way: [corpus._read(operation, one) for one in found[str(way)]] for way in corpus.WAYS
        }

    examples.load = load
    corpus.Corpus.cases = cases  # type: ignore[method-assign]  # of this run only


def pytest_configure() -> None:
    """Walks go by turns as after an ordinary change, of one domain and not of the kernel."""
    _teach(grow(int(os.environ["THENGA_GROWN"])))
    changes = Submission("grown", 0, {"src/thenga/domains/billing/jobs/payments.py": frozenset()})
    changed = rotation.chosen(changes)
    rotation.rotation = lambda: changed  # type: ignore[assignment]  # of this run only
    published.read = lambda *_: None  # type: ignore[assignment]  # the kept ones know nothing of it
    processes._TESTS["THENGA_GROWN"] = os.environ["THENGA_GROWN"]
    serving = processes._serving
    processes._serving = lambda app, *more: serving(app or "tests.suites.growing:app", *more)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    print(f"\ngrown: operations={len(operations(topology.load(topology.DOMAINS)))}")


def app() -> FastAPI:
    """What a process serves in such a run."""
    grow(int(os.environ["THENGA_GROWN"]))
    published.read = lambda _, domains: published.make(domains)  # the kept ones know nothing of it
    return main.app()
