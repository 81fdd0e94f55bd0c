"""Settings of Compliance: what an operator may change, with their defaults (CMP-47)."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from thenga.kernel.declare.law import EXTRA_HOLIDAYS
from thenga.kernel.declare.setting import Setting, SettingModel

_Weight = Annotated[int, Field(ge=1, le=100)]


class ComponentWeights(SettingModel):
    """How much each part of readiness counts (CMP-28)."""

    registration: _Weight = 25
    tax: _Weight = 25
    integrity: _Weight = 20
    ownership: _Weight = 10
    labour: _Weight = 10
    standing: _Weight = 10
    sector: _Weight = 10
    tender: _Weight = 20


COMPONENT_WEIGHTS = Setting(
    "compliance.readiness.componentWeights",
    ComponentWeights,
    ComponentWeights(),
    "Weight of each component of readiness",
)
BLOCKED_CAP = Setting(
    "compliance.readiness.blockedCap",
    Annotated[Decimal, Field(ge=0, le=49, decimal_places=1)],
    Decimal("49.0"),
    "Highest readiness score while a hard requirement is not met",
)
ASSUMED_AWARD_DAYS = Setting(
    "compliance.readiness.assumedAwardDays",
    Annotated[int, Field(ge=1, le=365)],
    60,
    "Days from closing to the assumed award of a tender",
)
EXPIRY_WINDOWS = Setting(
    "compliance.expiry.windows",
    Annotated[list[Annotated[int, Field(ge=1, le=365)]], Field(min_length=1, max_length=10)],
    [90, 60, 30, 14, 7],
    "Days before expiry on which it is told",
)
MIN_ASSURANCE = Setting(
    "compliance.assurance.minimum",
    Literal["internal", "independent"],
    "internal",
    "Weakest verification that meets a requirement",
)
DOWNLOAD_SECONDS = Setting(
    "compliance.download.seconds",
    Annotated[int, Field(ge=30, le=300)],
    300,
    "Seconds for which a download link is valid",
)
PERSONAL_DAYS = Setting(
    "compliance.retention.personalDays",
    Annotated[int, Field(ge=1, le=180)],
    180,
    "Days after certification on which a document of a person is destroyed",
)

SETTINGS = (
    COMPONENT_WEIGHTS,
    BLOCKED_CAP,
    ASSUMED_AWARD_DAYS,
    EXPIRY_WINDOWS,
    MIN_ASSURANCE,
    DOWNLOAD_SECONDS,
    PERSONAL_DAYS,
    EXTRA_HOLIDAYS,
)
