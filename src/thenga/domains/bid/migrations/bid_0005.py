"""The class of printed forms, their scans and the archives that hold them."""

from alembic import op

revision = "bid_0005"
down_revision = "bid_0004"
branch_labels = None
depends_on = None

# Which sealed numbers an older print shows is not known, so the strictest that its form can show
# are assumed. A file that was replaced keeps its name.
PRINTS = """
    UPDATE bid.file
    SET document_class = CASE name WHEN 'SBD 4.pdf' THEN 'personal' ELSE 'confidential' END
    WHERE purpose = 'rendering' AND name IN ('SBD 1.pdf', 'SBD 4.pdf')
"""
SCANS = """
    UPDATE bid.file
    SET document_class = CASE form.form_code WHEN 'SBD 4' THEN 'personal' ELSE 'confidential' END
    FROM bid.signature JOIN bid.sbd_form AS form
        ON form.organization_id = signature.organization_id AND form.id = signature.form_id
    WHERE file.organization_id = signature.organization_id AND file.id = signature.file_id
        AND form.form_code IN ('SBD 1', 'SBD 4')
"""
# The names of the classes sort by strictness; GREATEST and MAX skip files without one.
ARCHIVES = """
    UPDATE bid.file SET document_class = GREATEST(file.document_class, held.class)
    FROM (
        SELECT pack.organization_id, pack.workspace_id,
            'pack-' || pack.number || '-' || (pin ->> 'envelope') || '.zip' AS name,
            MAX(part.document_class) AS class
        FROM bid.pack
        CROSS JOIN jsonb_array_elements(pack.pins) AS pin
        JOIN bid.file AS part
            ON part.organization_id = pack.organization_id AND part.id::text = pin ->> 'file_id'
        GROUP BY 1, 2, 3
    ) AS held
    WHERE file.purpose = 'archive' AND file.organization_id = held.organization_id
        AND file.workspace_id = held.workspace_id AND file.name = held.name
"""
FILL = (PRINTS, SCANS, ARCHIVES, ARCHIVES)  # an archive can hold another


def upgrade() -> None:
    for statement in FILL:
        op.execute(statement)
