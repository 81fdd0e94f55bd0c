"""The event of a requirement."""

from thenga.domains.compliance import public
from thenga.domains.compliance.tables import Requirement
from thenga.kernel.db.work import Work


def tell_requirement(work: Work, row: Requirement) -> None:
    """Publish that a requirement was added or changed, or whether it applies."""
    work.publish(
        public.RequirementChanged(
            organization_id=row.organization_id,
            requirement_id=row.id,
            code=row.definition_code,
            origin=row.origin,
            applicability=row.applicability,
            tender_opportunity_id=row.tender_opportunity_id,
        )
    )
