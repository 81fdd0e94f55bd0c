"""Forms, files, prices, approvals, packs and proofs."""

from alembic import op

from thenga.kernel.db.columns import day, flag, ident, instant, json, number, text, whole
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table
from thenga.kernel.files.contents import CONTENT_INDEXES, content_columns

revision = "bid_0002"
down_revision = "bid_0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _form_definition()
    _sbd_form()
    _signature()
    _fact_use()
    _file()
    _workbook()
    _workbook_version()
    _approval()
    _pack()
    _proof()
    op.execute(
        "CREATE UNIQUE INDEX approval_open_once ON bid.approval "
        "(organization_id, subject_id, kind) WHERE status = 'requested'"
    )
    op.execute(
        "CREATE UNIQUE INDEX pack_current_once ON bid.pack "
        "(organization_id, workspace_id) WHERE is_current"
    )


def _of(column: str, table: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The key of a row that belongs to another of the same organization."""
    return (("organization_id", column), table, ("organization_id", "id"))


def _form_definition() -> None:
    make_table(
        "bid.form_definition",
        Kind.CATALOGUE,
        text("form_code"),
        text("edition"),
        text("regime"),
        text("title"),
        text("twin", nullable=True),
        day("effective_from"),
        day("effective_to", nullable=True),
        text("superseded_by", nullable=True),
        text("stage"),
        flag("per_bidder"),
        flag("signature"),
        text("mark", nullable=True),
        json("definition"),
        unique=[("form_code", "edition")],
    )


def _sbd_form() -> None:
    make_table(
        "bid.sbd_form",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("form_code"),
        text("edition"),
        text("title"),
        text("bidder_key"),
        json("answers"),
        text("justification", nullable=True),
        ident("file_id", nullable=True),
        json("rendering", nullable=True),
        instant("completed_at", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        unique=[("organization_id", "workspace_id", "form_code", "edition", "title", "bidder_key")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _signature() -> None:
    make_table(
        "bid.signature",
        Kind.PRIVATE,
        ident("form_id"),
        whole("form_version"),
        ident("signer_user_id"),
        text("method"),
        text("capacity"),
        text("rendering_sha256"),
        text("payload_sha256"),
        json("authority_ref"),
        ident("file_id", nullable=True),
        instant("signed_at"),
        ident("checked_by", nullable=True),
        instant("checked_at", nullable=True),
        instant("voided_at", nullable=True),
        text("void_reason", nullable=True),
        indexes=[("organization_id", "form_id")],
        references=[_of("form_id", "bid.sbd_form")],
    )


def _fact_use() -> None:
    make_table(
        "bid.fact_use",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("form_id"),
        text("field_id"),
        text("fact_ref"),
        whole("fact_version"),
        flag("material"),
        deletes=True,
        unique=[("organization_id", "form_id", "field_id")],
        indexes=[("organization_id", "fact_ref")],
        references=[_of("form_id", "bid.sbd_form")],
    )


def _file() -> None:
    make_table(
        "bid.file",
        Kind.PRIVATE,
        *content_columns(),
        ident("workspace_id"),
        text("name"),
        text("purpose"),
        flag("price"),
        ident("added_by", nullable=True),
        indexes=[*CONTENT_INDEXES, ("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _workbook() -> None:
    make_table(
        "bid.workbook",
        Kind.PRIVATE,
        ident("workspace_id"),
        whole("version_number"),
        text("content_sha256"),
        number("total_minor", nullable=True),
        json("authors"),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        unique=[("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _workbook_version() -> None:
    make_table(
        "bid.workbook_version",
        Kind.PRIVATE,
        ident("workbook_id"),
        whole("number"),
        json("content"),
        json("terms"),
        text("content_sha256"),
        ident("author_user_id", nullable=True),
        appends=True,
        unique=[("organization_id", "workbook_id", "number")],
        references=[_of("workbook_id", "bid.workbook")],
    )


def _approval() -> None:
    make_table(
        "bid.approval",
        Kind.PRIVATE,
        ident("workspace_id"),
        text("kind"),
        ident("subject_id"),
        whole("subject_version"),
        text("subject_sha256"),
        json("approver_user_ids"),
        whole("needed_count"),
        flag("needed_high"),
        json("decisions"),
        json("shown", nullable=True),
        text("shown_sha256", nullable=True),
        text("note", nullable=True),
        ident("requested_by", nullable=True),
        instant("expires_at"),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        due=True,
        indexes=[("organization_id", "workspace_id")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _pack() -> None:
    make_table(
        "bid.pack",
        Kind.PRIVATE,
        ident("workspace_id"),
        whole("number"),
        flag("is_current"),
        json("file_order"),
        json("extra_files"),
        json("checklist"),
        json("overrides"),
        json("acknowledgements"),
        json("build"),
        whole("build_number"),
        json("findings"),
        json("pins"),
        instant("as_of"),
        json("envelopes"),
        text("manifest_sha256", nullable=True),
        ident("sealed_by", nullable=True),
        instant("sealed_at", nullable=True),
        ident("requested_by", nullable=True),
        text("status"),
        text("status_code", nullable=True),
        text("status_text", nullable=True),
        instant("status_changed_at", nullable=True),
        ident("status_changed_by", nullable=True),
        unique=[("organization_id", "workspace_id", "number")],
        references=[_of("workspace_id", "bid.workspace")],
    )


def _proof() -> None:
    make_table(
        "bid.proof",
        Kind.PRIVATE,
        ident("workspace_id"),
        ident("pack_id"),
        text("channel"),
        instant("submitted_at"),
        text("place", nullable=True),
        text("receipt_reference", nullable=True),
        text("received_by", nullable=True),
        whole("copies", nullable=True),
        json("file_ids"),
        text("manifest_sha256"),
        ident("recorded_by", nullable=True),
        flag("recorded_late"),
        appends=True,
        indexes=[("organization_id", "pack_id")],
        references=[_of("pack_id", "bid.pack")],
    )
