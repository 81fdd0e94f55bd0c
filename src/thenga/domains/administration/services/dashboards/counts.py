"""What Administration counts of its own rows for the dashboards, one statement a board."""

from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy import ColumnElement

from thenga.domains.administration.settings import ROTATION_DAYS
from thenga.domains.administration.tables import (
    AuditFinding,
    AuditReview,
    ConfigurationStatus,
    ConfigurationVersion,
    FeatureFlag,
    FindingStatus,
    FlagMode,
    IntegrationSecret,
    PolicyConfiguration,
    PolicyStatus,
    ReviewStatus,
    SupportCase,
    SupportCaseStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.calendar import local_day

Limit = tuple[int, int]  # warning and alarm from this many on
Conditions = dict[str, tuple[ColumnElement[bool], Limit]]
_NEVER = (10**9, 10**9)


async def count(read: Reader, board: str) -> dict[str, tuple[int, Limit]]:
    """The counts of one dashboard with their limits."""
    days = await configuration.value(read, ROTATION_DAYS)
    asked = COUNTED[board](read, timedelta(days=days))
    counts = [
        sa.select(sa.func.count()).where(condition).scalar_subquery().label(key)
        for key, (condition, _) in asked.items()
    ]
    (found,) = await read.records(sa.select(*counts))
    return {key: (found[key], limit) for key, (_, limit) in asked.items()}


def _support(read: Reader, _: timedelta) -> Conditions:
    unresolved = SupportCase.status != SupportCaseStatus.RESOLVED
    late = sa.and_(SupportCase.responded_at.is_(None), SupportCase.response_due_at <= read.now)
    return {
        "cases.open": (unresolved, _NEVER),
        "cases.new": (SupportCase.status == SupportCaseStatus.NEW, _NEVER),
        "cases.unassigned": (
            sa.and_(unresolved, SupportCase.assignee_user_id.is_(None)),
            (10, 50),
        ),
        "cases.response_breached": (sa.and_(unresolved, late), (1, 10)),
        "cases.resolution_breached": (
            sa.and_(unresolved, SupportCase.due_at <= read.now),
            (1, 10),
        ),
    }


def _change_control(read: Reader, _: timedelta) -> Conditions:
    return {
        "configuration.pending": (
            ConfigurationVersion.status == ConfigurationStatus.PENDING_APPROVAL,
            (10, 50),
        ),
        "policies.pending": (PolicyConfiguration.status == PolicyStatus.SUBMITTED, (10, 50)),
        "policies.not_enforced": (PolicyConfiguration.status == PolicyStatus.PUBLISHED, (1, 5)),
        "policies.refused": (PolicyConfiguration.status == PolicyStatus.REFUSED, (1, 5)),
        "flags.partly_on": (
            among(FeatureFlag.mode, [FlagMode.PERCENTAGE, FlagMode.TARGETED]),
            _NEVER,
        ),
    }


def _governance(read: Reader, rotation: timedelta) -> Conditions:
    today = local_day(read.now)
    open_review = AuditReview.status != ReviewStatus.CLOSED
    open_finding = AuditFinding.status == FindingStatus.OPEN
    in_use = IntegrationSecret.valid_until.is_(None)
    return {
        "reviews.open": (open_review, _NEVER),
        "reviews.overdue": (sa.and_(open_review, AuditReview.due_on < today), (1, 5)),
        "findings.open": (open_finding, _NEVER),
        "findings.overdue": (sa.and_(open_finding, AuditFinding.due_on < today), (1, 5)),
        "credentials.old": (
            sa.and_(in_use, IntegrationSecret.set_at < read.now - rotation),
            (1, 5),
        ),
    }


COUNTED: dict[str, Callable[[Reader, timedelta], Conditions]] = {
    "support": _support,
    "change-control": _change_control,
    "governance": _governance,
}
