"""Settings of Bid: what an operator may change, with their defaults (BID-55)."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from thenga.kernel.declare.law import EXTRA_HOLIDAYS, PREFERENCE_THRESHOLD, VAT_COMPULSORY, VAT_RATE
from thenga.kernel.declare.setting import Setting, SettingModel

_Weight = Annotated[int, Field(ge=0, le=100)]
_Rand = Annotated[Decimal, Field(ge=0, max_digits=18, decimal_places=2)]
_Days = Annotated[int, Field(ge=1, le=60)]


class MatrixWeights(SettingModel):
    """How much a requirement of each class counts in coverage (BID-17)."""

    mandatory: _Weight = 3
    scored: _Weight = 2
    recommended: _Weight = 1


MATRIX_WEIGHTS = Setting(
    "bid.matrix.weights", MatrixWeights, MatrixWeights(), "Weights of coverage", kind="policy"
)


class ApprovalBands(SettingModel):
    """Totals with VAT up to which one approver, or two plain ones, are enough (BID-38)."""

    one_up_to: _Rand = Decimal("1000000.00")
    two_up_to: _Rand = Decimal("10000000.00")


APPROVAL_BANDS = Setting(
    "bid.approval.bands", ApprovalBands, ApprovalBands(), "Bands of approvals", kind="policy"
)
APPROVAL_DAYS = Setting(
    "bid.approval.days",
    _Days,
    5,
    "Working days after which a requested approval expires",
    kind="policy",
)


class PackLimits(SettingModel):
    """How large a submission pack may be (BID-41)."""

    files: Annotated[int, Field(ge=1, le=5000)] = 500
    pages: Annotated[int, Field(ge=1, le=20_000)] = 2000
    megabytes: Annotated[int, Field(ge=1, le=2000)] = 500


PACK_LIMITS = Setting(
    "bid.pack.limits", PackLimits, PackLimits(), "Limits of submission packs", kind="policy"
)


class PriceRules(SettingModel):
    """Below which margin a price is a high risk (BID-28)."""

    min_margin_percent: Annotated[Decimal, Field(ge=0, le=100)] = Decimal(5)


PRICE_RULES = Setting("bid.price", PriceRules, PriceRules(), "Rules of prices", kind="policy")
CLAMP_POINTS = Setting(
    "bid.points.clampAtZero", bool, False, "Whether price points below zero count as zero"
)
PROOF_LATE_DAYS = Setting(
    "bid.proof.lateDays",
    _Days,
    10,
    "Working days after the closing date in which proof of submission is accepted",
)
SUGGESTION_DAYS = Setting(
    "bid.suggestion.days", _Days, 14, "Days after which a suggestion to a section expires"
)

SETTINGS = (
    MATRIX_WEIGHTS,
    APPROVAL_BANDS,
    APPROVAL_DAYS,
    PACK_LIMITS,
    PRICE_RULES,
    CLAMP_POINTS,
    PROOF_LATE_DAYS,
    SUGGESTION_DAYS,
    EXTRA_HOLIDAYS,
    VAT_RATE,
    VAT_COMPULSORY,
    PREFERENCE_THRESHOLD,
)
