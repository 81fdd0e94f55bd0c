"""Loads the deployed catalogue as the system login (BIL-2).

Loading twice changes nothing. A published version that differs from the stored one stops the
deployment: add a new version instead (BIL-1).
"""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from thenga.domains.billing.services import entitlements
from thenga.domains.billing.tables import (
    Feature,
    Meter,
    OfferedPlan,
    PlanStatus,
    PlanVersion,
    Seller,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import Row, merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host

_FILE = Path(__file__).parents[2] / "content" / "catalogue.json"
R = TypeVar("R", bound=Row)
Line = dict[str, Any]


class CatalogueChanged(Exception):
    """A dated row of the file differs from the stored one. Give it a new date."""


class FeatureUnknown(Exception):
    """A permission names a feature that is not in the catalogue, so it would always be refused."""


def deployed() -> dict[str, list[Line]]:
    """The deployed catalogue file."""
    read: dict[str, list[Line]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return read


async def seed_catalogue(host: Host, domains: Sequence[Domain]) -> None:
    """Load the catalogue at deployment, as the system login."""
    check_features(domains)
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "billing", Scope(actor=SYSTEM), origin, login="billing_system")
    try:
        await load(work, deployed())
        await work.finish()
    finally:
        await work.close()


def check_features(domains: Sequence[Domain]) -> None:
    """Check that every feature named by a permission is in the catalogue (BIL-4)."""
    known = {line["key"] for line in deployed()["features"]}
    unknown = [
        f"{granted.code} needs {granted.feature}"
        for domain in domains
        for granted in domain.permissions
        if granted.feature is not None and granted.feature not in known
    ]
    if unknown:
        raise FeatureUnknown(", ".join(unknown))


async def load(work: Work, lines: dict[str, list[Line]]) -> None:
    """Load the given catalogue."""
    for line in lines["features"]:
        titled = {"type": line["type"], "title": line["title"]}
        await _described(work, Feature, {"key": line["key"]}, titled)
        if line["meter"] is not None:
            await _described(work, Meter, {"key": line["key"]}, line["meter"])
    plans = [_columns(line) for line in lines["plans"]]
    new = [terms for terms in plans if await _load_plan(work, terms) and terms["plan_version"] > 1]
    for line in lines["sellers"]:
        await _dated(work, Seller, ("seller_code", "effective_from"), _columns(line))
    for terms in new:
        await entitlements.end_fallback_plan(work, terms["plan_code"], terms["effective_from"])


async def _load_plan(work: Work, terms: Line) -> bool:
    """Add a new version, and return whether it was new."""
    key = ("plan_code", "plan_version")
    made = await _dated(work, OfferedPlan, key, terms)
    if made is None:
        return False
    await work.add(
        PlanVersion(**terms, id=made.id, status=PlanStatus.ACTIVE, published_at=work.now)
    )
    await _end_former(work, terms)
    return True


async def _end_former(work: Work, terms: Line) -> None:
    """End the previous version where a new one starts."""
    former = {"plan_code": terms["plan_code"], "plan_version": terms["plan_version"] - 1}
    if former["plan_version"] == 0:
        return
    for row in (OfferedPlan, PlanVersion):
        held = await work.lock_by(row, **former)
        held.effective_to = terms["effective_from"]  # type: ignore[attr-defined]  # both have it
        await work.save(held)


async def _dated(work: Work, row: type[R], key: tuple[str, ...], values: Line) -> R | None:
    """Add a new row. An existing one must be equal."""
    found = await work.find(row, **{name: values[name] for name in key})
    if found is None:
        return await work.add(row(**values))
    differing = [name for name, value in values.items() if getattr(found, name) != value]
    if differing:
        what = " ".join(str(values[name]) for name in key)
        raise CatalogueChanged(f"{row.__table__} {what} differs in {', '.join(differing)}")
    return None


async def _described(work: Work, row: type[Row], key: Line, values: Line) -> None:
    """Update titles and descriptions that changed."""
    found = await work.find(row, **key)
    if found is None:
        await work.add(row(**key, **values))
    elif any(getattr(found, name) != value for name, value in values.items()):
        held = await work.lock_by(row, **key)
        merge_patch(held, values)
        await work.save(held)


def _columns(line: Line) -> Line:
    """Column names and typed days."""
    values = {_snake(name): value for name, value in line.items()}
    return values | {"effective_from": date.fromisoformat(values["effective_from"])}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
