"""Which law a contract follows, and from which instant it can be active (CON-5)."""

import re
import unicodedata
from datetime import date, datetime, timedelta
from typing import Any

from thenga.domains.contract.tables import BuyerKind, Regime
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

_NOT_WORD = re.compile(r"[\W_]+")


_REGIMES = {
    BuyerKind.NATIONAL_DEPARTMENT: Regime.PFMA,
    BuyerKind.PROVINCIAL_DEPARTMENT: Regime.PFMA,
    BuyerKind.MUNICIPALITY: Regime.MFMA,
    BuyerKind.MUNICIPAL_ENTITY: Regime.MFMA,
    BuyerKind.PUBLIC_ENTITY: Regime.PUBLIC_ENTITY,
    BuyerKind.STATE_COMPANY: Regime.PUBLIC_ENTITY,
    BuyerKind.PRIVATE: Regime.PRIVATE,
}


def regime_of(kind: str) -> Regime:
    """The law of a kind of buyer."""
    return _REGIMES[BuyerKind(kind)]


def standstill_of(regime: str, told_on: date, appeal_days: int) -> date | None:
    """The last day on which somebody can appeal against the award of a municipality."""
    if regime != Regime.MFMA:
        return None
    return told_on + timedelta(days=appeal_days)


def standstill_ends_at(standstill_until: date) -> datetime:
    """The first instant after the stand-still."""
    return local_midnight(standstill_until + timedelta(days=1))


def folded(name: str) -> str:
    """A buyer's name without case, accents of width and punctuation, to find the same one again."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def signed_content(
    *,
    contract_number: str,
    title: str,
    category: str,
    counterparty: dict[str, Any],
    value: Money,
    days: tuple[date, date],
    terms: dict[str, Any],
) -> dict[str, Any]:
    """What both sides sign; its canonical JSON is hashed."""
    starts_on, ends_on = days
    return {
        "contractNumber": contract_number,
        "title": title,
        "category": category,
        "counterparty": {"name": counterparty["name"], "kind": counterparty["kind"]},
        "contractValue": {"amount": value.amount, "currency": value.currency},
        "startsOn": starts_on.isoformat(),
        "endsOn": ends_on.isoformat(),
        "terms": terms,
    }
