"""Matches: which listings may meet a need, as it was on one day."""

from datetime import datetime
from uuid import UUID

from thenga.domains.marketplace.values.matching import (
    Candidate,
    Exclusion,
    MatchRequirement,
    Need,
    TenderGap,
)
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow


class Match(TenantRow, table="marketplace.match", kind=Kind.PRIVATE):
    """The candidates of a need or of a tender's gap; only who asked ever knows of it (MKT-24)."""

    need: Col[Need | None]
    from_tender: Col[TenderGap | None]
    tender_opportunity_id: Col[UUID | None]
    requirement_set_version: Col[int | None]
    requirements: Col[list[MatchRequirement]]
    candidates: Col[list[Candidate]]
    excluded: Col[list[Exclusion]]
    formula_version: Col[int]
    as_of: Col[datetime]
    correlation_id: Col[str]
