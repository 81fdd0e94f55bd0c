"""What must be done before a contract is closed, computed from what is stored (CON-41)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from thenga.domains.contract.lifecycles import CoordinationLifecycle, MilestoneLifecycle
from thenga.domains.contract.services import delivery, ledger, variations
from thenga.domains.contract.services.ledger import FinalAccount
from thenga.domains.contract.tables import (
    Closeout,
    CloseoutStatus,
    Coordination,
    Lesson,
    LessonStatus,
    PerformanceMetric,
    Workspace,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.money import Money

FINAL_ACCOUNT = "final_account"
CODES = (
    "milestones",
    "variations",
    "invoices",
    "disputes",
    "retention",
    "advance",
    "packages",
    "performance",
    "lesson",
    FINAL_ACCOUNT,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the checklist."""

    code: str
    state: str  # done, open, not_applicable
    auto: bool
    detail: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """The checklist and the final account as they stand now."""

    items: tuple[Item, ...]
    account: FinalAccount

    @property
    def open_codes(self) -> list[str]:
        return [one.code for one in self.items if one.state == "open"]


def adjustments_of(closeout: Closeout, currency: str) -> list[Money]:
    """The adjustments that a person added to the final account."""
    return [Money(one["amount_minor"], currency) for one in closeout.adjustments]


async def check(read: Reader, workspace: Workspace, closeout: Closeout) -> Checked:
    """Compute every item; the buyer's confirmation is the last one."""
    account = await ledger.final_account(
        read, workspace, adjustments_of(closeout, workspace.currency)
    )
    found = await _open_details(read, workspace, account)
    set_aside = {one["code"]: one["reason"] for one in closeout.items}
    is_agreed = closeout.status is CloseoutStatus.COMPLETED
    if FINAL_ACCOUNT not in found and not is_agreed:
        found[FINAL_ACCOUNT] = "The buyer has not confirmed the final account."
    return Checked(tuple(_item(code, found, set_aside) for code in CODES), account)


def _item(code: str, found: dict[str, str], set_aside: dict[str, str]) -> Item:
    if code in set_aside:
        return Item(code, "not_applicable", auto=False, detail=set_aside[code])
    if code in found:
        return Item(code, "open", auto=True, detail=found[code])
    return Item(code, "done", auto=True, detail=None)


async def _open_details(
    read: Reader, workspace: Workspace, account: FinalAccount
) -> dict[str, str]:
    """What is open, each with what is missing."""
    money = await ledger.open_money_of(read, workspace)
    milestones = await delivery.live_milestones(read, workspace.id)
    unmet = [one.key for one in milestones if one.status not in MilestoneLifecycle.DONE]
    if workspace.outcome == "terminated":
        unmet = []  # what a terminated contract did not deliver stays undelivered
    changes = await variations.open_variations(read, workspace.id)
    packages, lessons = await _count_records(read, workspace)
    metrics = await _count(read, PerformanceMetric, PerformanceMetric.workspace_id == workspace.id)
    details: dict[str, tuple[Any, str]] = {
        "milestones": (unmet, f"Milestones not met or waived: {', '.join(unmet)}."),
        "variations": (changes, f"Open variations: {changes}."),
        "invoices": (
            money.unsettled_invoices,
            f"Unsettled invoices: {money.unsettled_invoices}.",
        ),
        "disputes": (
            money.disputed_invoices,
            f"Disputed invoices: {money.disputed_invoices}.",
        ),
        "retention": (money.retention, f"Retention not yet released: {money.retention}."),
        "advance": (money.advance, f"Advance not yet recovered: {money.advance}."),
        "packages": (packages, f"Packages not yet closed: {packages}."),
        "performance": (not metrics, "No performance has been recorded."),
        "lesson": (not lessons, "No lesson has been published."),
        FINAL_ACCOUNT: (account.unclaimed, f"Unclaimed amount: {account.unclaimed}."),
    }
    return {code: detail for code, (is_open, detail) in details.items() if is_open}


async def _count_records(read: Reader, workspace: Workspace) -> tuple[int, int]:
    """Packages that are not over, and lessons that are published."""
    packages = await _count(
        read,
        Coordination,
        Coordination.workspace_id == workspace.id,
        Coordination.kind == "package",
        ~among(Coordination.status, CoordinationLifecycle.OVER),
    )
    lessons = await _count(
        read,
        Lesson,
        Lesson.workspace_id == workspace.id,
        Lesson.status == LessonStatus.PUBLISHED,
    )
    return packages, lessons


async def _count(read: Reader, row: Any, *conditions: Any) -> int:
    statement = select(func.count()).select_from(row)
    statement = statement.where(row.organization_id == read.organization_id, *conditions)
    return await read.value(statement) or 0


def stored_account(account: FinalAccount) -> dict[str, str]:
    """The final account as both sides confirmed it."""
    return {
        "originalValue": account.original_value.amount,
        "variations": account.variations.amount,
        "adjustments": account.adjustments.amount,
        "agreed": account.agreed.amount,
        "claimed": account.claimed.amount,
        "unclaimed": account.unclaimed.amount,
    }


def open_without_account(checked: Checked) -> Sequence[str]:
    """What is open before the buyer is asked: everything but the confirmation."""
    account_is_even = not checked.account.unclaimed
    return [code for code in checked.open_codes if code != FINAL_ACCOUNT or not account_is_even]
