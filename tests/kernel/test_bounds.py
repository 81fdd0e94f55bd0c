"""Bounds of a process: how much at once, and how much of a body."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from thenga.kernel.errors import (
    MalformedRequest,
    Overloaded,
    RateLimited,
    TooLarge,
    UploadTimeout,
)
from thenga.kernel.http.bounds import Bounds, check_length, read_body


def sends(*messages: Message) -> Receive:
    """A client that says these, and then nothing more."""
    left: Iterator[Message] = iter(messages)

    async def receive() -> Message:
        for message in left:
            return message
        await asyncio.Event().wait()
        raise AssertionError

    return receive


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_one_more_than_the_process_takes_is_refused_at_once() -> None:
    bounds = Bounds(process=2, tenant=9)
    bounds.enter()
    bounds.enter()

    with pytest.raises(Overloaded) as refused:
        bounds.enter()

    assert refused.value.headers == {"Retry-After": "1"}
    assert bounds.in_flight == 2
    bounds.leave()
    bounds.enter()


def test_one_tenant_cannot_take_the_places_of_another() -> None:
    bounds = Bounds(process=9, tenant=1)
    busy, calm = uuid4(), uuid4()
    bounds.enter_tenant(busy)

    with pytest.raises(Overloaded):
        bounds.enter_tenant(busy)

    bounds.enter_tenant(calm)
    bounds.leave_tenant(busy)
    bounds.enter_tenant(busy)


def test_tenants_that_left_leave_nothing_behind() -> None:
    bounds = Bounds(process=9, tenant=2)
    for tenant in [uuid4() for _ in range(100)]:
        bounds.enter_tenant(tenant)
        bounds.enter_tenant(tenant)
        bounds.leave_tenant(tenant)
        bounds.leave_tenant(tenant)

    assert bounds._tenants == {}


def test_stream_releases_its_slot_and_has_its_own_limit() -> None:
    bounds = Bounds(process=1, tenant=9)
    bounds.enter()
    bounds.become_stream()
    bounds.enter()

    with pytest.raises(Overloaded):
        bounds.become_stream()

    assert (bounds.in_flight, bounds.streams) == (1, 1)
    bounds.leave_stream()
    bounds.become_stream()


async def test_drain_serves_new_and_waits_for_running_requests() -> None:
    bounds = Bounds(process=2, tenant=9)
    bounds.draining = True
    bounds.enter()

    assert not await bounds.finished(0.01)
    asyncio.get_running_loop().call_later(0.01, bounds.leave)
    assert await bounds.finished(5)
    assert await bounds.finished(0)


async def test_a_body_is_put_together_from_its_parts() -> None:
    assert await read_body(sends(part(b"whole")), 5) == b"whole"
    assert await read_body(sends(part(b"a", more=True), part(b"", more=True), part(b"b")), 2) == (
        b"ab"
    )
    assert await read_body(sends({"type": "http.request"}), 0) == b""


async def test_reading_stops_at_the_limit_and_not_at_the_end() -> None:
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return part(b"x" * 100, more=True)

    with pytest.raises(TooLarge) as refused:
        await read_body(receive, 1_000)

    assert read == 11
    assert refused.value.facts == {"limitBytes": 1_000}


async def test_a_sender_that_stops_sending_is_not_waited_for() -> None:
    with pytest.raises(UploadTimeout):
        await read_body(sends(part(b"a", more=True)), 10, seconds=0.02)


async def test_a_sender_that_left_is_told_nothing() -> None:
    with pytest.raises(ClientDisconnect):
        await read_body(sends(part(b"a", more=True), {"type": "http.disconnect"}), 10)


def test_a_declared_length_is_believed_only_when_it_is_too_much() -> None:
    check_length(None, 10)
    check_length(b"10", 10)
    for declared in (b"11", b"9" * 5_000):
        with pytest.raises(TooLarge):
            check_length(declared, 10)
    for malformed in ("-1", b"ten", "", "²"):
        with pytest.raises(MalformedRequest):
            check_length(malformed, 10)


def test_a_body_that_is_waited_for_holds_no_place() -> None:
    bounds = Bounds(process=1, tenant=9, bodies=2)
    bounds.enter()
    bounds.begin_body("a")

    bounds.enter()  # the place of the one that waits
    bounds.end_body("a")

    with pytest.raises(Overloaded):
        bounds.check()
    bounds.leave()
    bounds.check()
    assert (bounds.in_flight, bounds.waiting, bounds._addresses) == (1, 0, {})


def test_bodies_of_one_address_are_bounded_and_others_are_not() -> None:
    bounds = Bounds(process=9, tenant=9, bodies=2)
    for _ in range(3):
        bounds.enter()
    bounds.begin_body("a")
    bounds.begin_body("a")

    with pytest.raises(RateLimited):
        bounds.begin_body("a")

    bounds.begin_body("b")
    assert (bounds.in_flight, bounds.waiting) == (0, 3)
