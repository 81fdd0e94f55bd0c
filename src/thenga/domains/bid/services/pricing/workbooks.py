"""The workbook of a bid: versions of its content, computed each time with the law of the closing
day (BID-26 to 28, 32, 33)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import WorkbookLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.pricing.arithmetic import VatStatus
from thenga.domains.bid.services.pricing.problems import GoalsExceedAllocation, RatePrecision
from thenga.domains.bid.services.pricing.totals import Picture, computed, goals_of
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import (
    TenderRef,
    Workbook,
    WorkbookStatus,
    WorkbookVersion,
    Workspace,
)
from thenga.domains.bid.values.prices import (
    CashTerms,
    Content,
    Discounts,
    Item,
    ItemKind,
)
from thenga.domains.organization import public as organization
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare import law
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import DependencyUnavailable, Duplicate, NotFound, RuleViolated
from thenga.kernel.ports.binding import Unbound, within
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

MOST_ITEMS = 5000
_MOST_RAND = Decimal(10**12)
_WHOLE = 100  # per cent


@dataclass(frozen=True, slots=True)
class Vat:
    """Whether the company is a VAT vendor, by which version of its fact, and the rate."""

    status: VatStatus
    ref: Mapping[str, Any] | None
    percent: Decimal


@dataclass(frozen=True, slots=True)
class Changed:
    """The workbook and its picture, and whether what an approval is bound to changed."""

    workbook: Workbook
    picture: Picture
    priced: bool


async def create(work: Work, workspace_id: UUID, fields: Mapping[str, Any]) -> Changed:
    """Begin the price of a bid; there is one workbook a workspace."""
    seen = await workspaces.seen_workspace(work, workspace_id, Need.EDIT, Need.PRICE)
    vat = await _ask_vat(work, seen)
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT, Need.PRICE)
    held = await work.find(Workbook, workspace_id=workspace_id)
    if held is not None:
        raise Duplicate(existing={"id": str(held.id)})
    content = _merged(Content(), fields)
    tender = await workspaces.stored_tender(work, workspace)
    await _check(content, tender)
    picture = await computed(work, content, vat_terms(vat, content), tender)
    workbook = Workbook(
        id=new_id(),
        organization_id=work.organization_id,
        workspace_id=workspace_id,
        version_number=1,
        content_sha256=content.sha256(),
        total_minor=picture.priced.totals.total.minor,
        authors=_with_author(work, []),
    )
    await work.add(workbook)
    await _add_version(work, workbook, content, vat)
    work.publish(event_of(workspace, workbook))
    return Changed(workbook, picture, priced=True)


async def change(work: Work, workspace_id: UUID, fields: Mapping[str, Any]) -> Changed:
    """Merge changes into a new version. Where the price itself differs, an approval of the former
    one no longer counts; the caller voids it in the same unit of work (BID-33)."""
    seen = await workspaces.seen_workspace(work, workspace_id, Need.EDIT, Need.PRICE)
    vat = await _ask_vat(work, seen)
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT, Need.PRICE)
    workbook = await work.lock_by(Workbook, workspace_id=workspace_id)
    version = await version_of(work, workbook)
    before = content_of(version)
    content = _merged(before, fields)
    tender = await workspaces.stored_tender(work, workspace)
    await _check(content, tender)
    vat = _kept(vat, version)
    terms = vat_terms(vat, content)
    picture = await computed(work, content, terms, tender)
    if content == before and terms == version.terms:
        return Changed(workbook, picture, priced=False)
    digest = content.sha256()
    priced = digest != workbook.content_sha256 or _vat_moved(version, vat)
    workbook.version_number += 1
    workbook.content_sha256 = digest
    workbook.total_minor = picture.priced.totals.total.minor
    workbook.authors = _with_author(work, workbook.authors) if priced else workbook.authors
    if priced:
        return_to_draft(work, workbook, "price_changed")
    await work.save(workbook)
    await _add_version(work, workbook, content, vat)
    work.publish(event_of(workspace, workbook))
    return Changed(workbook, picture, priced)


def return_to_draft(work: Work, workbook: Workbook, code: str) -> None:
    """An approval that was asked or given no longer holds for this price."""
    moves = {
        WorkbookStatus.PENDING_APPROVAL: WorkbookLifecycle.return_,
        WorkbookStatus.APPROVED: WorkbookLifecycle.return_,
        WorkbookStatus.LOCKED: WorkbookLifecycle.reset,
    }
    move = moves.get(workbook.status)
    if move is not None:
        move(workbook, at=work.now)
        explain(workbook, at=work.now, by=workspaces.person_of(work), code=code)


async def version_of(
    read: Reader, workbook: Workbook, number: int | None = None
) -> WorkbookVersion:
    """The version that was asked for, or the current one."""
    wanted = number or workbook.version_number
    return await read.get(WorkbookVersion, await _version_id(read, workbook.id, wanted))


async def _version_id(read: Reader, workbook_id: UUID, number: int) -> UUID:
    found = await read.find(WorkbookVersion, workbook_id=workbook_id, number=number)
    if found is None:
        raise RuleViolated("There is no such version.", rule="BID-33", field="versionNumber")
    return found.id


def content_of(version: WorkbookVersion) -> Content:
    """The content of a version with its terms."""
    terms = version.terms
    rest: dict[str, Any] = {
        name: terms[name] for name in ("cash_terms", "scenario", "first_sums") if name in terms
    }
    return Content.of_row({**version.content, **rest})


def vat_terms(vat: Vat, content: Content) -> dict[str, Any]:
    """What a version keeps beside the content that approvals are bound to."""
    whole = content.to_row()
    return {
        "vat_status": vat.status.value,
        "vat_ref": None if vat.ref is None else dict(vat.ref),
        "vat_percent": format(vat.percent, "f"),
        "cash_terms": whole["cash_terms"],
        "scenario": whole["scenario"],
        "first_sums": whole["first_sums"],
    }


async def _add_version(work: Work, workbook: Workbook, content: Content, vat: Vat) -> None:
    whole = content.to_row()
    priced = {n: v for n, v in whole.items() if n not in ("cash_terms", "scenario", "first_sums")}
    version = WorkbookVersion(
        organization_id=work.organization_id,
        workbook_id=workbook.id,
        number=workbook.version_number,
        content=priced,
        terms=vat_terms(vat, content),
        content_sha256=workbook.content_sha256,
        author_user_id=workspaces.person_of(work),
    )
    await work.add(version)


async def ask_vat_status(read: Reader) -> tuple[VatStatus, Mapping[str, Any] | None]:
    """Whether the company is a vendor by its fact `vatRegistered`; silence is unknown."""
    try:
        port = read.port(organization.Profiles)
        asked = port.describe(
            organization_id=read.organization_id,
            purpose="bid_form",
            fact_keys=["vatRegistered"],
        )
        profile = await within(port.port_timeout, port.port_name, asked)
    except (Unbound, DependencyUnavailable, NotFound):
        return VatStatus.UNKNOWN, None
    for fact in profile.facts:
        if fact.provenance.kind != "ai_suggested" and isinstance(fact.value, bool):
            status = VatStatus.VENDOR if fact.value else VatStatus.NON_VENDOR
            return status, fact.ref.model_dump(mode="json")
    return VatStatus.UNKNOWN, None


async def _ask_vat(read: Reader, workspace: Workspace) -> Vat:
    status, ref = await ask_vat_status(read)
    on = None if workspace.closing_at is None else local_day(workspace.closing_at)
    percent = await configuration.value(read, law.VAT_RATE, on=on)
    return Vat(status, ref, percent)


def _kept(vat: Vat, version: WorkbookVersion) -> Vat:
    """What was known before, where Organization is silent now."""
    if vat.status is not VatStatus.UNKNOWN:
        return vat
    return replace(vat, status=VatStatus(version.terms["vat_status"]), ref=version.terms["vat_ref"])


def _vat_moved(version: WorkbookVersion, vat: Vat) -> bool:
    known = version.terms
    return (known["vat_status"], Decimal(known["vat_percent"])) != (vat.status.value, vat.percent)


def _with_author(work: Work, authors: list[str]) -> list[str]:
    person = work.actor.person_id
    return authors if person is None or str(person) in authors else [*authors, str(person)]


def _merged(content: Content, fields: Mapping[str, Any]) -> Content:
    """JSON Merge Patch over the content: an item that is null goes, others are merged."""
    changed: dict[str, Any] = {
        name: fields[name]
        for name in ("basis", "rate_decimals", "boq_document_ref", "validity_days", "scenario")
        if name in fields
    }
    if "items" in fields:
        items = _merged_items(content.items, fields["items"])
        sums = {
            key: format(item.unit_rate, "f")
            for key, item in items.items()
            if item.kind is ItemKind.PROVISIONAL_SUM and item.unit_rate is not None
        }
        changed["items"] = items
        changed["first_sums"] = {key: content.first_sums.get(key, sums[key]) for key in sums}
    if {"discount_percent", "discount_amount", "conditional_discounts"} & set(fields):
        changed["discounts"] = _discounts(content.discounts, fields)
    if "cash_terms" in fields:
        terms = fields["cash_terms"]
        merged = {**content.cash_terms.to_row(), **(terms or {})}
        kept = {name: value for name, value in merged.items() if value is not None}
        changed["cash_terms"] = CashTerms.of_row(kept if terms is not None else {})
    return replace(content, **changed)


def _merged_items(
    items: Mapping[str, Item], wanted: Mapping[str, Mapping[str, Any] | None]
) -> dict[str, Item]:
    merged = dict(items)
    for key, fields in wanted.items():
        if fields is None:
            merged.pop(key, None)
            continue
        before = merged[key].to_row() if key in merged else _fresh(len(merged))
        row = {name: value for name, value in {**before, **fields}.items() if value is not None}
        if not row.get("description"):
            raise RuleViolated(f"Send a description of item {key}.", rule="BID-26", keys=[key])
        merged[key] = Item.of_row(row)
    return merged


def _fresh(count: int) -> dict[str, Any]:
    return {"position": count + 1, "kind": ItemKind.MEASURED.value}


def _discounts(before: Discounts, fields: Mapping[str, Any]) -> Discounts:
    percent = fields.get("discount_percent", before.percent)
    amount = fields.get("discount_amount", before.amount)
    if percent is not None and amount is not None:
        raise RuleViolated(
            "Send the discount as a percentage or an amount, not both.", rule="BID-26"
        )
    conditional = fields.get("conditional_discounts", before.conditional)
    return Discounts(percent=percent, amount=amount, conditional=tuple(conditional or ()))


async def _check(content: Content, tender: TenderRef | None) -> None:
    """Refuse what cannot be computed, or what a buyer could not check."""
    if len(content.items) > MOST_ITEMS:
        raise RuleViolated(
            "A workbook can have at most 5 000 items.", rule="BID-26", limit=MOST_ITEMS
        )
    fine = [k for k, i in content.items.items() if _places(i) > content.rate_decimals]
    if fine:
        raise RatePrecision(keys=fine[:50], allowedDecimals=content.rate_decimals)
    wrong = [key for key, item in content.items.items() if _names_wrongly(content, item)]
    if wrong:
        raise RuleViolated(
            "A percentage can be at most 100 and only of existing items that are not percentages.",
            rule="BID-26",
            keys=wrong[:50],
        )
    sums = sum(
        (i.quantity or 1) * max(i.unit_rate or 0, i.cost or 0) for i in content.items.values()
    )
    if sums > _MOST_RAND:
        raise RuleViolated("This price is too large. Check quantities and rates.", rule="BID-26")
    _check_goals(content, tender)


def _places(item: Item) -> int:
    if item.unit_rate is None or item.kind is ItemKind.PERCENTAGE:
        return 0
    exponent = item.unit_rate.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _names_wrongly(content: Content, item: Item) -> bool:
    if item.kind is not ItemKind.PERCENTAGE:
        return False
    named = [content.items.get(key) for key in item.percent_of]
    unknown = any(one is None or one.kind is ItemKind.PERCENTAGE for one in named)
    return unknown or (item.unit_rate or Decimal(0)) > _WHOLE


def _check_goals(content: Content, tender: TenderRef | None) -> None:
    """Points of the scenario never exceed what the tender allocates to a goal (BID-34)."""
    claimed: Mapping[str, Any] = (content.scenario or {}).get("our_goals", {})
    goals = {goal["key"]: goal for goal in goals_of(tender)}
    over = [
        key
        for key, claim in claimed.items()
        if key not in goals
        or any(
            Decimal(claim.get(name) or 0) > Decimal(goals[key].get(limit) or 0)
            for name, limit in (("claim_8020", "points_8020"), ("claim_9010", "points_9010"))
        )
    ]
    if over:
        raise GoalsExceedAllocation(keys=over)


def event_of(workspace: Workspace, workbook: Workbook) -> public.WorkbookChanged:
    """What is told of a price: that it changed, never how much it is."""
    return public.WorkbookChanged(
        **workspaces.told_of(workspace),
        workbook_id=workbook.id,
        status=workbook.status.value,
        version_number=workbook.version_number,
    )
