"""The class of archives that hold documents of the company."""

import sqlalchemy as sa
from alembic import op

revision = "bid_0003"
down_revision = "bid_0002"
branch_labels = None
depends_on = None

# Which documents an older archive holds is known, but not their class, so the strictest is assumed.
# Documents of the company lie in the single or technical envelope of a pack that pins evidence; an
# older archive can also lie in another as an extra file.
FILL = """
    UPDATE bid.file SET document_class = 'personal'
    WHERE purpose = 'archive' AND EXISTS (
        SELECT FROM bid.pack
        WHERE pack.organization_id = file.organization_id
            AND pack.workspace_id = file.workspace_id
            AND file.name LIKE 'pack-' || pack.number || '-%'
            AND (
                (right(file.name, 14) <> '-financial.zip' AND pack.pins @> '[{"kind": "evidence"}]')
                OR pack.extra_files ?| ARRAY(
                    SELECT archive.id::text FROM bid.file AS archive
                    WHERE archive.organization_id = pack.organization_id
                        AND archive.workspace_id = pack.workspace_id
                        AND archive.purpose = 'archive'
                )
            )
    )
"""


def upgrade() -> None:
    op.add_column("file", sa.Column("document_class", sa.Text, nullable=True), schema="bid")
    op.execute(FILL)
