"""How facts, statements, checks and suggestions look to a member."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import Picture, Source, Values
from thenga.domains.organization.tables import (
    CustomerStatement,
    FactConflict,
    FactVerification,
    ImportedStatement,
    Origin,
    Outcome,
    Verification,
)
from thenga.kernel.http.bodies import View

# What a warning of `identifiers` means to whoever reads it.
WARNINGS = {
    "two_digit_year": "The year has two digits; the twentieth century is assumed.",
    "suffix_mismatch": "The ending of this number is usual for another legal form.",
    "unknown_suffix": "The ending of this number is unknown.",
    "unusual_length": "These numbers usually have seven digits.",
    "check_digit": "The last digit does not match. Check for a typing error.",
    "refugee": "This number belongs to a refugee.",
    "not_usual_for_legal_form": "Companies of this legal form usually do not have this fact.",
}


class ProvenanceView(View):
    """Source of the current value. Suggestions by machines never count."""

    kind: Origin
    source: Annotated[
        dict[str, Any] | None,
        Field(description="Source of the value: a register, a document or an accepted suggestion."),
    ]
    confidence: float | None = None
    recorded_at: datetime
    recorded_by: UUID | None

    @classmethod
    def of(cls, source: Source) -> "ProvenanceView":
        return cls(
            kind=facts.origin_of(source),
            source=source.source,
            recorded_at=source.created_at,
            recorded_by=facts.author_of(source),
        )


class WarningView(View):
    """A warning about a value."""

    code: str
    detail: str


class PendingChangeView(View):
    """A pending change. Any owner can withdraw it until it takes effect."""

    statement_id: UUID
    effective_from: datetime


class AlsoStatedView(View):
    """Another current statement of the same value."""

    statement_id: UUID
    kind: Origin
    recorded_at: datetime


class FactView(View):
    """A fact: its current value, source, verification and age."""

    fact_key: str
    value: Annotated[
        Any, Field(description="Value, in the type of the fact catalogue. Secrets are masked.")
    ]
    version: Annotated[
        int, Field(ge=0, description="Version to cite. Every version stays readable.")
    ]
    provenance: ProvenanceView | None
    also_stated_by: list[AlsoStatedView]
    verification_status: FactVerification
    verified_until: datetime | None
    conflict_status: FactConflict
    statement_count: Annotated[
        int, Field(description="Number of current statements and verifications.")
    ]
    confirmed_at: datetime | None
    stale_after: datetime | None
    stale: Annotated[
        bool,
        Field(
            description=(
                "Whether the fact has not been confirmed for a long time. It is still shown."
            )
        ),
    ]
    pending_change: PendingChangeView | None
    pending_suggestions: int
    warnings: list[WarningView]

    @classmethod
    def of(cls, picture: Picture, values: Values, now: datetime) -> "FactView":
        return cls.model_validate(_fact(picture, values, now))


def _fact(picture: Picture, values: Values, now: datetime) -> dict[str, Any]:
    source, fact, fresh = picture.effective(now), picture.fact, picture.freshness
    live = picture.live(now)
    held = None if picture.is_held_over(now) else picture.held
    return {
        "fact_key": picture.key,
        "value": None if source is None else values.shown(picture.key, source),
        "version": 0 if fact is None else fact.version,
        "provenance": None if source is None else ProvenanceView.of(source),
        "also_stated_by": _also(source, live),
        "verification_status": picture.verification(now),
        "verified_until": None if fact is None else fact.verified_until,
        "conflict_status": FactConflict.NONE if fact is None else fact.conflict_status,
        "statement_count": len(live),
        "confirmed_at": None if fresh is None else fresh.confirmed_at,
        "stale_after": None if fresh is None or source is None else fresh.stale_after,
        "stale": fresh is not None and source is not None and fresh.stale_after < now,
        "pending_change": held
        and PendingChangeView(statement_id=held.id, effective_from=held.effective_from),
        "pending_suggestions": picture.suggestions,
        "warnings": _warnings(source),
    }


def _also(source: Source | None, live: list[Source]) -> list[AlsoStatedView]:
    return [
        AlsoStatedView(statement_id=one.id, kind=facts.origin_of(one), recorded_at=one.created_at)
        for one in live
        if source is not None
        and one.id != source.id
        and facts.digest_of(one) == facts.digest_of(source)
    ]


def _warnings(source: Source | None) -> list[WarningView]:
    codes = [] if source is None or isinstance(source, Verification) else source.warnings
    return [WarningView(code=code, detail=WARNINGS.get(code, code)) for code in codes]


class StatementView(View):
    """A statement about a fact. It never changes; it can only be withdrawn."""

    id: UUID
    fact_key: str
    kind: Literal["customer_supplied", "imported"]
    value: Any
    canonical_hash: Annotated[
        str,
        Field(
            description=(
                "Hash of the normalised value, in hexadecimal. Equal if two statements mean the "
                "same."
            )
        ),
    ]
    source: dict[str, Any] | None
    basis: str | None
    stated_at: datetime
    stated_by: UUID | None
    effective_from: datetime
    withdrawn_at: datetime | None
    warnings: list[WarningView]

    @classmethod
    def of(
        cls, statement: CustomerStatement | ImportedStatement, values: Values
    ) -> "StatementView":
        own = isinstance(statement, CustomerStatement)
        register = (
            {} if isinstance(statement, CustomerStatement) else {"register": statement.register}
        )
        return cls(
            id=statement.id,
            fact_key=statement.fact_key,
            kind="customer_supplied" if own else "imported",
            value=values.shown(statement.fact_key, statement),
            canonical_hash=statement.canonical_hash.hex(),
            source={**register, **(statement.source or {})} or None,
            basis=statement.basis if isinstance(statement, CustomerStatement) else None,
            stated_at=statement.created_at,
            stated_by=statement.stated_by,
            effective_from=statement.effective_from,
            withdrawn_at=statement.withdrawn_at,
            warnings=_warnings(statement),
        )


class FactCheckView(View):
    """A verification of one version of a fact."""

    id: UUID
    fact_key: str | None
    subject_version: int
    found_value: Any
    outcome: Outcome
    method: str
    source: dict[str, Any]
    checked_by: UUID | None
    checked_at: datetime
    valid_until: datetime | None
    ended_at: datetime | None
    note: str | None

    @classmethod
    def of(cls, check: Verification, values: Values) -> "FactCheckView":
        key = check.fact_key or ""
        found = check.canonical_hash is not None
        return cls(
            id=check.id,
            fact_key=check.fact_key,
            subject_version=check.subject_version,
            found_value=values.shown(key, check) if found else None,
            outcome=check.outcome,
            method=check.method,
            source=check.source,
            checked_by=check.checked_by,
            checked_at=check.created_at,
            valid_until=check.valid_until,
            ended_at=check.ended_at,
            note=check.note,
        )
