"""Variations, invoices, payments, counters of money and the journal."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from thenga.kernel.db.columns import day, ident, instant, json, number, octets, text, texts, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import (
    append_only,
    balanced,
    frozen,
    joins_only_while,
    make_table,
)

revision = "contract_0002"
down_revision = "contract_0001"
branch_labels = None
depends_on = None

_TENANT = ("organization_id", "id")
_OF_WORKSPACE = (("organization_id", "workspace_id"), "contract.workspace", _TENANT)
_OF_INVOICE = (("organization_id", "invoice_id"), "contract.invoice", _TENANT)


def minor(*names: str) -> list[sa.Column[Any]]:
    return [number(f"{name}_minor") for name in names]


def currency() -> sa.Column[str]:
    return text("currency")


def moved() -> list[sa.Column[Any]]:
    """Who moved the row, when and why."""
    return [
        *(text("status"), text("status_reason", nullable=True)),
        *(instant("status_changed_at", nullable=True), ident("status_changed_by", nullable=True)),
    ]


def checked(table: str, **rules: str) -> None:
    for name, rule in rules.items():
        op.execute(f"ALTER TABLE contract.{table} ADD CONSTRAINT {table}_{name} CHECK ({rule})")


def upgrade() -> None:
    _counters()
    _journal()
    _variations()
    _invoices()
    _invoice_lines()
    _credit_notes()
    _payments()
    _prints()


def _counters() -> None:
    make_table(
        "contract.workspace_money",
        Kind.PRIVATE,
        ident("workspace_id"),
        currency(),
        *minor("value", "increases", "billed", "advance_due", "advance_billed", "recovered"),
        *minor("retention_cap", "retained", "released"),
        whole("releases_told"),
        unique=[("organization_id", "workspace_id")],
        references=[_OF_WORKSPACE],
    )
    checked(
        "workspace_money",
        billed="0 <= billed_minor AND billed_minor <= value_minor",
        retention="0 <= released_minor AND released_minor <= retained_minor "
        "AND retained_minor <= retention_cap_minor",
        advance="0 <= recovered_minor AND recovered_minor <= advance_billed_minor "
        "AND advance_billed_minor <= advance_due_minor",
        increases="0 <= increases_minor",
    )


def _journal() -> None:
    make_table(
        "contract.journal_entry",
        Kind.PRIVATE,
        ident("workspace_id"),
        *(text("kind"), text("key"), ident("source_id"), day("occurred_on")),
        unique=[("organization_id", "key")],
        indexes=[("organization_id", "workspace_id", "occurred_on")],
        references=[_OF_WORKSPACE],
    )
    make_table(
        "contract.journal_line",
        Kind.PRIVATE,
        *(ident("entry_id"), ident("workspace_id"), text("account")),
        number("amount_minor"),
        currency(),
        indexes=[("organization_id", "entry_id"), ("organization_id", "workspace_id", "account")],
        references=[(("organization_id", "entry_id"), "contract.journal_entry", _TENANT)],
    )
    append_only("contract.journal_entry", "contract.journal_line")
    balanced("contract.journal_entry", "contract.journal_line")


def _variations() -> None:
    make_table(
        "contract.variation",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("number"),
        *moved(),
        *(text("title"), texts("kinds"), text("reason_code")),
        *(*minor("value_delta"), currency(), whole("days_delta"), text("scope", nullable=True)),
        *(json("milestone_changes"), json("evidence_refs")),
        json("limit_approval_ref", nullable=True),
        *(ident("author_user_id", nullable=True), text("content_hash", nullable=True)),
        text("strength", nullable=True),
        number("value_before_minor", nullable=True),
        number("value_after_minor", nullable=True),
        *(day("ends_before", nullable=True), day("ends_after", nullable=True)),
        sa.Column("cumulative_percent", sa.Numeric, nullable=True),
        *(text("limit_state", nullable=True), instant("executed_at", nullable=True)),
        whole("plan_number", nullable=True),
        unique=[("organization_id", "workspace_id", "number")],
        indexes=[("organization_id", "status")],
        references=[_OF_WORKSPACE],
    )
    checked(
        "variation",
        executed="(status = 'executed') = (executed_at IS NOT NULL)",
        adds_up="executed_at IS NULL OR value_after_minor = value_before_minor + value_delta_minor",
    )
    frozen("contract.variation", once="executed_at", besides=())


def _invoices() -> None:
    make_table(
        "contract.invoice",
        Kind.PRIVATE,
        *(ident("workspace_id"), text("kind")),
        *moved(),
        *(text("settled_from", nullable=True), text("return_code", nullable=True)),
        *(text("number", nullable=True), text("external_number", nullable=True)),
        *(json("document_ref", nullable=True), ident("replaces_id", nullable=True)),
        *(day("supply_date", nullable=True), text("note", nullable=True)),
        currency(),
        sa.Column("rate_percent", sa.Numeric, nullable=True),
        *minor("work", "retained", "recovered", "consideration", "net", "vat", "payable"),
        *minor("claimed", "paid", "credited", "written_off", "disputed"),
        *(text("dispute_code", nullable=True), day("dispute_since", nullable=True)),
        *(day("submitted_on", nullable=True), instant("issued_at", nullable=True)),
        ident("issued_by", nullable=True),
        *(day("received_on", nullable=True), day("due_on", nullable=True), json("clock_history")),
        *(text("told_bucket", nullable=True), text("strength", nullable=True)),
        *(json("printed", nullable=True), json("seller_refs"), json("warnings")),
        json("pdf", nullable=True),
        due=True,
        unique=[("organization_id", "number")],
        indexes=[
            ("organization_id", "workspace_id"),
            ("organization_id", "status"),
            ("organization_id", "due_on"),
        ],
        references=[_OF_WORKSPACE],
    )
    outstanding = "payable_minor - paid_minor - credited_minor - written_off_minor"
    checked(
        "invoice",
        adds_up="net_minor + vat_minor = consideration_minor",
        parts="work_minor >= 0 AND retained_minor >= 0 AND recovered_minor >= 0 "
        "AND payable_minor >= 0 AND (kind <> 'progress' "
        "OR payable_minor = work_minor - retained_minor - recovered_minor)",
        never_over="claimed_minor >= 0 AND paid_minor >= 0 AND credited_minor >= 0 AND "
        "written_off_minor >= 0 AND "
        "claimed_minor + paid_minor + credited_minor + written_off_minor <= payable_minor",
        disputed=f"0 <= disputed_minor AND disputed_minor <= {outstanding}",
        numbered="(number IS NULL) = (status IN ('draft', 'discarded'))",
        settled=f"status <> 'settled' OR {outstanding} = 0",
    )
    op.execute(
        "CREATE UNIQUE INDEX invoice_replaces_once ON contract.invoice "
        "(organization_id, replaces_id) WHERE replaces_id IS NOT NULL"
    )
    frozen(
        "contract.invoice",
        once="number",
        besides=(
            *("status", "status_reason", "status_changed_at", "status_changed_by"),
            *("settled_from", "return_code", "claimed_minor", "paid_minor", "credited_minor"),
            *("written_off_minor", "disputed_minor", "dispute_code", "dispute_since"),
            *("received_on", "due_on", "clock_history", "told_bucket", "strength", "pdf"),
            *("warnings", "next_check_at"),
        ),
    )


def _invoice_lines() -> None:
    make_table(
        "contract.invoice_line",
        Kind.PRIVATE,
        *(ident("invoice_id"), whole("position"), ident("milestone_id", nullable=True)),
        text("description"),
        sa.Column("quantity", sa.Numeric, nullable=False),
        *(text("unit", nullable=True), *minor("amount", "credited")),
        unique=[("organization_id", "invoice_id", "position")],
        indexes=[("organization_id", "milestone_id")],
        references=[
            _OF_INVOICE,
            (("organization_id", "milestone_id"), "contract.milestone", _TENANT),
        ],
        deletes=True,
    )
    checked(
        "invoice_line",
        positive="amount_minor > 0",
        credited="0 <= credited_minor AND credited_minor <= amount_minor",
    )
    joins_only_while("contract.invoice_line", "invoice_id", "contract.invoice", unset="number")


def _credit_notes() -> None:
    make_table(
        "contract.credit_note",
        Kind.PRIVATE,
        *(ident("workspace_id"), ident("invoice_id"), text("number")),
        *(text("reason_code"), text("explanation")),
        currency(),
        sa.Column("rate_percent", sa.Numeric, nullable=True),
        *minor("amount", "consideration", "net", "vat", "work"),
        *(day("issued_on"), instant("issued_at"), json("printed"), json("pdf", nullable=True)),
        unique=[("organization_id", "number")],
        indexes=[("organization_id", "invoice_id")],
        references=[_OF_WORKSPACE, _OF_INVOICE],
    )
    checked(
        "credit_note",
        adds_up="net_minor + vat_minor = consideration_minor",
        positive="amount_minor > 0",
    )
    frozen("contract.credit_note", once="number", besides=("pdf",))


def _payments() -> None:
    make_table(
        "contract.payment",
        Kind.PRIVATE,
        *(ident("workspace_id"), ident("invoice_id"), text("state")),
        *(*minor("amount"), currency(), day("received_on")),
        *(text("bank_reference", nullable=True), whole("days_from_receipt", nullable=True)),
        text("reason_code", nullable=True),
        indexes=[("organization_id", "invoice_id"), ("organization_id", "workspace_id")],
        references=[_OF_WORKSPACE, _OF_INVOICE],
    )
    checked("payment", positive="amount_minor > 0")
    # One that was withdrawn or reversed does not stand in the way of the right one.
    op.execute(
        "CREATE UNIQUE INDEX payment_bank_reference_once ON contract.payment "
        "(organization_id, bank_reference, invoice_id) WHERE bank_reference IS NOT NULL "
        "AND state IN ('recorded', 'confirmed')"
    )


def _prints() -> None:
    make_table(
        "contract.document_pdf",
        Kind.PRIVATE,
        *(ident("document_id"), text("edition"), text("sha256"), octets("content")),
        unique=[("organization_id", "document_id", "edition")],
    )
    append_only("contract.document_pdf")
