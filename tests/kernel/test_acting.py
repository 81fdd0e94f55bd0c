"""Operators name an organization in one way in every list that takes `organizationId`."""

import inspect

from fastapi import APIRouter

from thenga import topology
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.http.doors import Door
from thenga.kernel.http.lists import OfOrganization


def forgetful(routers: list[APIRouter]) -> list[str]:
    """Routes that take the organization of an operator and do not go on for it."""
    routes = [route for router in routers for route in router.routes if isinstance(route, Door)]
    return sorted(
        route.endpoint.__name__
        for route in routes
        if OfOrganization in inspect.get_annotations(route.endpoint).values()
        and on_behalf_of.__name__ not in route.endpoint.__code__.co_names
    )


def test_every_list_that_takes_an_organization_goes_on_for_it() -> None:
    routers = [router for one in topology.load(topology.DOMAINS) for router in one.routers]
    taking = [
        route.endpoint.__name__
        for router in routers
        for route in router.routes
        if isinstance(route, Door)
        and OfOrganization in inspect.get_annotations(route.endpoint).values()
    ]

    print(f"lists_of_operators={len(taking)}")
    assert len(taking) >= 16
    assert forgetful(routers) == []


def test_a_planted_list_that_forgets_it_is_found() -> None:
    async def list_things(organization_id: OfOrganization = None) -> None:
        """Reads its own whatever was asked for."""

    (router,) = [
        router
        for one in topology.load(("billing",))
        for router in one.routers
        if any(route.path == "/billing/trials" for route in router.routes)  # type: ignore[attr-defined]
    ][:1]
    route = next(route for route in router.routes if isinstance(route, Door))
    copy = APIRouter()
    copy.routes.append(route)
    known, route.endpoint = route.endpoint, list_things
    try:
        assert forgetful([copy]) == ["list_things"]
    finally:
        route.endpoint = known
