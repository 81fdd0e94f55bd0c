"""Which risks a company's readiness raises, as values (CMP-33, CMP-34)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from uuid import UUID

MOST_EXPIRING_DAYS = 30
UNKNOWN_AFTER = timedelta(days=7)


class RuleCode(StrEnum):
    """The rules that raise a risk."""

    GATE_EXPIRED = "gate_expired"
    GATE_EXPIRING = "gate_expiring"
    LAPSES_BEFORE_AWARD = "lapses_before_award"
    VERIFICATION_FAILED = "verification_failed"
    GATE_UNKNOWN = "gate_unknown"
    RENEWAL_LATE = "renewal_late"


LIKELIHOOD_AND_IMPACT: dict[RuleCode, tuple[int, int]] = {
    RuleCode.GATE_EXPIRED: (5, 5),
    RuleCode.GATE_EXPIRING: (4, 4),
    RuleCode.LAPSES_BEFORE_AWARD: (4, 4),
    RuleCode.VERIFICATION_FAILED: (4, 4),
    RuleCode.GATE_UNKNOWN: (3, 3),
    RuleCode.RENEWAL_LATE: (3, 4),
}
TITLES: dict[RuleCode, str] = {
    RuleCode.GATE_EXPIRED: "A required proof has expired: {code}",
    RuleCode.GATE_EXPIRING: "A required proof expires soon: {code}",
    RuleCode.LAPSES_BEFORE_AWARD: "A proof ends before the award of a tender: {code}",
    RuleCode.VERIFICATION_FAILED: "A proof failed its verification: {code}",
    RuleCode.GATE_UNKNOWN: "A required proof is still unclear: {code}",
    RuleCode.RENEWAL_LATE: "A renewal is late: {code}",
}


def plain_title(rule_code: str) -> str | None:
    """The title of a rule's risk without what it is about; none where no rule raised it."""
    title = TITLES.get(RuleCode(rule_code)) if rule_code in set(RuleCode) else None
    return None if title is None else title.partition(":")[0]


class Level(StrEnum):
    """Severity of a risk, derived from its score."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


SERIOUS = frozenset({Level.HIGH, Level.CRITICAL})
_BOUNDS = ((16, Level.CRITICAL), (10, Level.HIGH), (5, Level.MEDIUM), (1, Level.LOW))


def score_of(likelihood: int, impact: int) -> int:
    return likelihood * impact


def level_of(score: int) -> Level:
    """1 to 4 low, 5 to 9 medium, 10 to 15 high, 16 to 25 critical."""
    return next(level for least, level in _BOUNDS if score >= least)


@dataclass(frozen=True, slots=True)
class GateFact:
    """A requirement as the rules see it today."""

    requirement_id: UUID | None
    code: str
    is_hard: bool
    state: str
    days_left: int | None = None
    is_renewal_expected: bool = False
    unknown_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class LapseFact:
    """A need that ends before a later date of a tracked tender."""

    tender_opportunity_id: UUID
    requirement_id: UUID | None
    code: str


@dataclass(frozen=True, slots=True)
class RenewalFact:
    """A document whose renewal was expected on a day."""

    document_id: UUID
    document_type_code: str
    expected_on: date


@dataclass(frozen=True, slots=True)
class RiskFound:
    """A risk that a rule raises; one for each rule and subject."""

    rule: RuleCode
    subject: str
    title: str
    requirement_id: UUID | None = None
    document_id: UUID | None = None
    tender_opportunity_id: UUID | None = None

    @property
    def likelihood(self) -> int:
        return LIKELIHOOD_AND_IMPACT[self.rule][0]

    @property
    def impact(self) -> int:
        return LIKELIHOOD_AND_IMPACT[self.rule][1]


def find_risks(
    *,
    now: datetime,
    today: date,
    gates: Sequence[GateFact],
    lapses: Sequence[LapseFact],
    renewals: Sequence[RenewalFact],
) -> dict[tuple[str, str], RiskFound]:
    """Every risk that the rules see now, by rule and subject."""
    found = [
        *(risk for gate in gates for risk in _of_gate(gate, now)),
        *(_of_lapse(lapse) for lapse in lapses),
        *(_of_renewal(renewal) for renewal in renewals if renewal.expected_on < today),
    ]
    return {(risk.rule.value, risk.subject): risk for risk in found}


def _of_gate(gate: GateFact, now: datetime) -> Iterator[RiskFound]:
    if gate.state == "failed":
        yield _of(RuleCode.VERIFICATION_FAILED, gate)
    if not gate.is_hard:
        return
    if gate.state == "expired":
        yield _of(RuleCode.GATE_EXPIRED, gate)
    if gate.state == "unknown" and _is_long_unknown(gate, now):
        yield _of(RuleCode.GATE_UNKNOWN, gate)
    if (
        gate.state in ("met", "provisional")
        and gate.days_left is not None
        and gate.days_left <= MOST_EXPIRING_DAYS
        and not gate.is_renewal_expected
    ):
        yield _of(RuleCode.GATE_EXPIRING, gate)


def _is_long_unknown(gate: GateFact, now: datetime) -> bool:
    return gate.unknown_since is not None and now - gate.unknown_since > UNKNOWN_AFTER


def _of(rule: RuleCode, gate: GateFact) -> RiskFound:
    subject = f"requirement:{gate.requirement_id or gate.code}"
    title = TITLES[rule].format(code=gate.code)
    return RiskFound(rule, subject, title, requirement_id=gate.requirement_id)


def _of_lapse(lapse: LapseFact) -> RiskFound:
    rule = RuleCode.LAPSES_BEFORE_AWARD
    return RiskFound(
        rule,
        f"tender:{lapse.tender_opportunity_id}:{lapse.requirement_id or lapse.code}",
        TITLES[rule].format(code=lapse.code),
        requirement_id=lapse.requirement_id,
        tender_opportunity_id=lapse.tender_opportunity_id,
    )


def _of_renewal(renewal: RenewalFact) -> RiskFound:
    rule = RuleCode.RENEWAL_LATE
    return RiskFound(
        rule,
        f"document:{renewal.document_id}",
        TITLES[rule].format(code=renewal.document_type_code),
        document_id=renewal.document_id,
    )
