"""Terms of a contract as its row keeps them; frozen when the contract becomes active (CON-6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any


class VatTreatment(StrEnum):
    """How the supply is taxed."""

    STANDARD = "standard"
    ZERO_RATED = "zero_rated"
    NON_VENDOR = "non_vendor"


class VatTiming(StrEnum):
    """When retained money bears VAT."""

    WHEN_DUE = "when_due"
    ON_INVOICE = "on_invoice"


class ClaimBasis(StrEnum):
    """What a milestone must have reached before it can be invoiced."""

    ON_MET = "on_met"
    PROGRESS = "progress"


class Cession(StrEnum):
    """Whether claims under the contract may be ceded."""

    UNKNOWN = "unknown"
    ALLOWED = "allowed"
    NEEDS_CONSENT = "needs_consent"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class AdvanceTerms:
    """An advance as a share of the value, recovered as a share of each invoice."""

    percent: Decimal
    recovery_percent: Decimal


@dataclass(frozen=True, slots=True)
class RetentionTerms:
    """What the buyer keeps of each invoice, up to which share of the value, and until when."""

    percent: Decimal
    cap_percent: Decimal
    first_release_percent: Decimal = Decimal(50)
    defects_days: int = 0
    vat_timing: VatTiming = VatTiming.WHEN_DUE


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms that money follows. `payment_days` is always known once a contract is stored."""

    payment_days: int
    vat_treatment: VatTreatment = VatTreatment.STANDARD
    claim_basis: ClaimBasis = ClaimBasis.ON_MET
    cession: Cession = Cession.UNKNOWN
    advance: AdvanceTerms | None = None
    retention: RetentionTerms | None = None

    @classmethod
    def of_row(cls, kept: Mapping[str, Any]) -> "Terms":
        """The terms of a row, whose members are written as on the wire."""
        advance, retention = kept.get("advance"), kept.get("retention")
        return cls(
            payment_days=int(kept["paymentDays"]),
            vat_treatment=VatTreatment(kept.get("vatTreatment") or VatTreatment.STANDARD),
            claim_basis=ClaimBasis(kept.get("claimBasis") or ClaimBasis.ON_MET),
            cession=Cession(kept.get("cession") or Cession.UNKNOWN),
            advance=_advance(advance) if advance else None,
            retention=_retention(retention) if retention else None,
        )


def _advance(kept: Mapping[str, Any]) -> AdvanceTerms:
    return AdvanceTerms(Decimal(kept["percent"]), Decimal(kept["recoveryPercent"]))


def _retention(kept: Mapping[str, Any]) -> RetentionTerms:
    return RetentionTerms(
        percent=Decimal(kept["percent"]),
        cap_percent=Decimal(kept["capPercent"]),
        first_release_percent=Decimal(kept.get("firstReleasePercent") or 50),
        defects_days=int(kept.get("defectsDays") or 0),
        vat_timing=VatTiming(kept.get("vatTiming") or VatTiming.WHEN_DUE),
    )
