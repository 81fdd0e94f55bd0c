"""A finding: what is wrong with a price, a form or a pack, and what helps."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Class(StrEnum):
    """Severity of a finding (BID-42)."""

    BLOCKING = "blocking"
    HIGH_RISK = "high_risk"
    WARNING = "warning"
    PASSED = "passed"


_ABOUT_PRICE = ("price", "item:", "workbook", "cash")  # how such a subject begins


def is_about_price(subject: str) -> bool:
    """Whether only people who see the price are told what was found about this subject."""
    return subject.startswith(_ABOUT_PRICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding; its key is stable, so that it can be overridden or acknowledged by name."""

    code: str
    severity: Class
    subject: str
    text: str
    remedy: str
    overridable: bool = False

    @property
    def key(self) -> str:
        return f"{self.code}:{self.subject}"

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Finding":
        return cls(**{**row, "severity": Class(row["severity"])})

    def to_row(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "subject": self.subject,
            "text": self.text,
            "remedy": self.remedy,
            "overridable": self.overridable,
        }
