"""Documents in JSON columns are read and written by one class each."""

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest

from thenga.domains.billing.tables import (
    Attempt,
    BillToReview,
    ChangeStatus,
    Decline,
    FailureCategory,
    Interval,
    Parked,
    PendingChange,
)

AT = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
ID = UUID("0193f1b0-0000-7000-8000-000000000001")
SCHEDULED = PendingChange(
    change_id=ID,
    plan_code="starter",
    plan_version=2,
    interval=Interval.MONTH,
    effective="period_end",
    effective_on=date(2026, 12, 1),
    status=ChangeStatus.SCHEDULED,
    credit_minor=0,
    amount_due_minor=0,
    currency="ZAR",
    credited_line_id=None,
    restarts_periods=False,
)
AWAITED = replace(
    SCHEDULED,
    plan_code="professional",
    status=ChangeStatus.AWAITING_PAYMENT,
    credited_line_id=ID,
    restarts_periods=True,
    invoice_id=ID,
    payment_id=ID,
    expires_at=AT,
    former=SCHEDULED,
)
DOCUMENTS = [
    SCHEDULED,
    AWAITED,
    Parked("too_many_lines", AT),
    BillToReview(frozenset({"address", "legalName"}), AT),
    Attempt(at=AT, reminder=True),
    Attempt(
        at=AT,
        payment_id=ID,
        payment_method_id=ID,
        initiated_by="customer",
        category=FailureCategory.HARD,
        code="41",
    ),
    Decline(FailureCategory.SOFT, "51", AT),
    Decline(FailureCategory.TECHNICAL),
]


def changed_by_storing() -> list[Any]:
    """The documents that come back different after a round trip through JSON."""
    stored = [orjson.loads(orjson.dumps(document.to_row())) for document in DOCUMENTS]
    return [
        document
        for document, row in zip(DOCUMENTS, stored, strict=True)
        if type(document).of_row(row) != document
    ]


def test_stored_documents_come_back_unchanged() -> None:
    assert changed_by_storing() == []


def test_a_lost_field_of_a_document_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_former(self: PendingChange, _whole: Any = PendingChange.to_row) -> Any:
        return _whole(self) | {"former": None}

    monkeypatch.setattr(PendingChange, "to_row", without_former)

    assert changed_by_storing() == [AWAITED]


def test_a_scheduled_change_stored_without_former_is_read() -> None:
    row = SCHEDULED.to_row()
    del row["former"]

    assert PendingChange.of_row(row) == SCHEDULED
