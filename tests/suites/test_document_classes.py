"""Nobody sees a document or a file of a class above their own, by any operation."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import asyncpg
import pytest
from fastapi import FastAPI

from tests.planting import plant
from tests.suites import classified
from tests.suites.classified import Sweep
from tests.suites.straight import Straight
from thenga import topology
from thenga.domains.bid.services import files
from thenga.domains.bid.services.forms import rendering
from thenga.domains.compliance.services.documents import classes
from thenga.domains.compliance.services.documents.classes import Sight
from thenga.kernel.http.document.operations import operations
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

DOMAINS = topology.load(topology.DOMAINS)
SCOPE = classified.in_scope(operations(DOMAINS))
GRANTED = {granted.code: granted for domain in DOMAINS for granted in domain.permissions}

pytestmark = pytest.mark.usefixtures("unchecked_views")


@pytest.fixture(scope="module")
async def sweep(app: FastAPI, host: Host, settings: Settings, seeded: None) -> AsyncIterator[Sweep]:
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    yield await classified.prepare(Straight(app), host, admin, GRANTED)
    await admin.close()


def _named(*names: str) -> list[Any]:
    return [operation for operation in SCOPE if operation.name in names]


@pytest.mark.rule("CMP-48", "BID-56")
async def test_no_operation_shows_a_class_above_the_callers(sweep: Sweep) -> None:
    tally = await sweep.walk(SCOPE)

    print(tally)
    assert tally.canaries == []
    assert tally.idle == []
    assert tally.broken == []
    # The owner reads what is hidden from others, so the marks are where the sweep looks for them.
    reading = {
        *("get_document", "list_documents", "change_document", "list_expiry", "get_evidence"),
        *("list_verifications", "get_verification", "list_ai_suggestions"),
        *("get_bid_file", "get_bid_file_content"),
    }
    assert reading <= tally.shown


async def _open(*_: object, **__: object) -> None: ...


async def _all_seen(*_: object) -> Sight:
    return Sight(frozenset(), None)


@pytest.mark.parametrize(
    ("module", "name", "bug", "found_by"),
    [
        (classes, "check_readable", _open, "get_document"),
        (classes, "check_readable", _open, "get_evidence"),
        (classes, "sight_of", _all_seen, "list_documents"),
        (classes, "sight_of", _all_seen, "list_ai_suggestions"),
        (files.identity, "demand", _open, "get_bid_file_content"),
    ],
)
async def test_planted_leak_of_a_class_is_found(
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    bug: Callable[..., Any],
    found_by: str,
) -> None:
    plant(monkeypatch, module, name, bug)

    tally = await sweep.walk(_named(found_by))

    assert any(f"'{classified.PERSONAL}'" in line for line in tally.canaries), tally.canaries


@pytest.mark.parametrize("name", [classified.CONFIDENTIAL, classified.PERSONAL])
async def test_planted_print_without_class_is_found(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plant(monkeypatch, rendering, "_class_of", lambda plain: None)
    leaking = await classified.make_print(sweep.host, sweep.tenant, name)

    tally = await replace(sweep, subjects=[leaking]).walk(_named("get_bid_file_content"))

    assert any("viewer" in line and f"'{name}'" in line for line in tally.canaries), tally.canaries


async def test_operation_that_nobody_can_call_is_found(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(classified.calls.MAKERS, "get_document")

    tally = await sweep.walk(_named("get_document"))

    assert [line.partition(":")[0] for line in tally.idle] == ["get_document"]
