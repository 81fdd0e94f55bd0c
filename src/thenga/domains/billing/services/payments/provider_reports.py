"""Records what a provider report did: applied, stale, or quarantined with a reason (BIL-36)."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.public.payments import Finding
from thenga.domains.billing.tables import (
    Payment,
    ProviderStatement,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class ReportSource:
    """Where a report came from: a callback, an answer, a poll or an operator."""

    source: str = "answer"
    callback_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ReportOutcome:
    """What a report did."""

    outcome: StatementOutcome
    payment: Payment
    statement_id: UUID
    note: str | None = None


async def record_report(
    work: Work,
    payment: Payment,
    report: ProviderReport,
    source: ReportSource,
    outcome: StatementOutcome,
    note: str | None = None,
) -> ReportOutcome:
    """Store a report with its outcome."""
    row = await work.add(
        ProviderStatement(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            callback_id=source.callback_id,
            source=source.source,
            kind=report.kind,
            status=report.status,
            provider_reference=report.provider_reference,
            item_reference=report.item_reference or report.item_alias,
            amount_minor=report.amount_minor,
            currency=report.currency,
            provider_at=report.provider_at,
            outcome=outcome,
            note=note,
        )
    )
    return ReportOutcome(outcome, payment, row.id, note)


async def quarantine(
    work: Work, payment: Payment, report: ProviderReport, source: ReportSource, finding: Finding
) -> ReportOutcome:
    """Store a report that does not match our records, without effect. The mismatch is published
    once, even if polls repeat it."""
    known = await _is_known(work, payment, report, finding)
    recorded = await record_report(
        work, payment, report, source, StatementOutcome.QUARANTINED, finding
    )
    if not known:
        publish_mismatch(work, payment, report, recorded, finding)
    return recorded


async def _is_known(
    read: Reader, payment: Payment, report: ProviderReport, finding: Finding
) -> bool:
    kept = ProviderStatement
    said = select(kept).where(
        kept.payment_id == payment.id,
        kept.outcome == StatementOutcome.QUARANTINED,
        kept.note == finding,
        kept.kind == report.kind,
        kept.status == report.status,
        kept.amount_minor.is_not_distinct_from(report.amount_minor),
        kept.currency.is_not_distinct_from(report.currency),
        kept.item_reference.is_not_distinct_from(report.item_reference or report.item_alias),
    )
    return bool(await read.all(said, limit=1))


def publish_mismatch(
    work: Work, payment: Payment, report: ProviderReport, recorded: ReportOutcome, finding: Finding
) -> None:
    """Publish that a stored report needs a review."""
    stated = None
    if report.amount_minor is not None:
        stated = Money(report.amount_minor, _currency(report, payment))
    expected, kept_as = payment.amount, recorded.statement_id
    publish_payment_mismatch(
        work, payment, finding, expected=expected, stated=stated, statement_id=kept_as
    )


def publish_payment_mismatch(
    work: Work,
    payment: Payment,
    finding: Finding,
    *,
    expected: Money,
    stated: Money | None = None,
    statement_id: UUID | None = None,
) -> None:
    """Publish that a payment or a report about it needs a review."""
    work.publish(
        public.PaymentMismatchFound(
            organization_id=payment.organization_id,
            source="payment" if statement_id is None else "providerStatement",
            source_id=statement_id or payment.id,
            provider=payment.provider,
            finding=finding,
            payment_id=payment.id,
            expected=expected,
            stated=stated,
        )
    )


def _currency(report: ProviderReport, payment: Payment) -> str:
    """The stated currency if it is a valid code, otherwise XXX (ISO 4217 for no currency)."""
    stated = report.currency or payment.currency
    plain = len(stated) == 3 and stated.isascii() and stated.isalpha() and stated.isupper()
    return stated if plain else "XXX"
