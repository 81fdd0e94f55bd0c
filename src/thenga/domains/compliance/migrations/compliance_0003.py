"""Who brought the newest file of a document: a confidential one stays readable to that person."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision = "compliance_0003"
down_revision = "compliance_0002"
branch_labels = None
depends_on = None

FILL = """
    UPDATE compliance.document SET brought_by = (
        SELECT coalesce(version.uploaded_by, version.facts_by)
        FROM compliance.document_version AS version
        WHERE version.organization_id = document.organization_id
            AND version.document_id = document.id
            AND (version.uploaded_by IS NOT NULL OR version.number = 1)
        ORDER BY version.number DESC LIMIT 1
    )
"""


def upgrade() -> None:
    column = sa.Column("brought_by", pg.UUID, nullable=True)
    op.add_column("document", column, schema="compliance")
    op.execute(FILL)
