"""The slow model of a contract's life: it keeps documents and decides from them alone."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.domains.contract.slow_money import NIL, Bill, SlowContract, cents, share
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.values.money import Money

LIVE = ("submitted", "received", "returned", "approved")
LIMIT_SHARE, LIMIT_AMOUNT = Decimal(20), Decimal(20_000_000)


class Refused(Exception):
    """The model does not allow this."""


@dataclass
class SlowBill(Bill):
    """An invoice with its status, its milestone and its dispute."""

    key: str | None = None
    status: str = "submitted"
    before: str = "submitted"
    disputed: Decimal = NIL


@dataclass
class SlowHistory(SlowContract):
    """A works contract of a municipality whose milestones are all met on the same day."""

    original: Decimal = NIL
    increases: Decimal = NIL
    first_percent: Decimal = Decimal(50)
    defects_days: int = 0
    milestones: dict[str, Decimal] = field(default_factory=dict)
    payments: list[list[Any]] = field(default_factory=list)  # place, amount, live

    @classmethod
    def of(cls, terms: Terms, value: Decimal, shares: dict[str, str]) -> "SlowHistory":
        amounts = Money.of(str(value)).share([Decimal(one) for one in shares.values()])
        return cls(
            value=value,
            retention_percent=terms.retention.percent,
            cap_percent=terms.retention.cap_percent,
            advance_percent=terms.advance.percent,
            recovery_percent=terms.advance.recovery_percent,
            when_due=terms.retention.vat_timing == "when_due",
            original=value,
            first_percent=terms.retention.first_release_percent,
            defects_days=terms.retention.defects_days,
            milestones={key: Decimal(one.amount) for key, one in zip(shares, amounts, strict=True)},
        )

    def act(self, name: str, facts: dict[str, Any]) -> None:
        plain = {
            key: Decimal(fact.amount) if isinstance(fact, Money) else fact
            for key, fact in facts.items()
        }
        getattr(self, name)(**plain)

    # --- what may be claimed ----------------------------------------------------------------------

    def billed_of(self, key: str) -> Decimal:
        return sum((bill.live_work for bill in self.bills if bill.key == key), NIL)

    def room(self, kind: str, key: str | None) -> Decimal:
        if kind == "advance":
            due = share(self.original, self.advance_percent)
            return due - self.total("live_payable", "advance")
        if kind == "retention_release":
            retained = self.total("live_retained")
            released = self.total("live_payable", "retention_release")
            if self.defects_days == 0:
                return retained - released
            return max(share(retained, self.first_percent) - released, NIL)
        whole = self.value - self.total("live_work")
        return min(whole, self.milestones[key or ""] - self.billed_of(key or ""))

    def bill(self, kind: str, key: str | None, amount: Decimal) -> None:
        if amount > self.room(kind, key):
            raise Refused
        make = {"advance": self.advance, "progress": self.progress}.get(kind, self.release)
        made = make(amount)
        self.bills[-1] = SlowBill(**made.__dict__, key=key)
        self._close_if_done(self.bills[-1])

    # --- what happens to an invoice ---------------------------------------------------------------

    def move(self, place: int, verb: str, amount: Decimal | None) -> None:
        getattr(self, f"_{verb}")(self.bills[place], amount)

    def _goes(self, bill: SlowBill, source: str, target: str) -> None:
        if bill.status == target:
            return
        if bill.status != source:
            raise Refused
        bill.status = target

    def _receive(self, bill: SlowBill, _: Decimal | None) -> None:
        self._goes(bill, "submitted", "received")

    def _return(self, bill: SlowBill, _: Decimal | None) -> None:
        self._goes(bill, "received", "returned")

    def _resubmit(self, bill: SlowBill, _: Decimal | None) -> None:
        self._goes(bill, "returned", "submitted")

    def _dispute(self, bill: SlowBill, amount: Decimal) -> None:
        if bill.status not in ("received", "approved") or amount > bill.outstanding:
            raise Refused
        bill.disputed = amount

    def _resolve(self, bill: SlowBill, _: Decimal | None) -> None:
        bill.disputed = NIL

    def _credit(self, bill: SlowBill, amount: Decimal) -> None:
        if bill.status == "credited":
            return
        if bill.status not in LIVE or amount > bill.outstanding:
            raise Refused
        bill.credits.append(amount)
        released = self.total("live_payable", "retention_release")
        advanced = self.total("live_payable", "advance")
        rests = self.total("live_retained") < released or advanced < self.total("live_recovered")
        if rests:
            bill.credits.pop()
            raise Refused
        self._close_if_done(bill)

    def _write_off(self, bill: SlowBill, amount: Decimal) -> None:
        if bill.status not in LIVE or amount > bill.outstanding:
            raise Refused
        bill.written_off += amount
        self._close_if_done(bill)

    def _close_if_done(self, bill: SlowBill) -> None:
        bill.disputed = min(bill.disputed, bill.outstanding)
        if not bill.outstanding:
            bill.before = bill.status
            bill.status = "settled" if bill.live_payable or not bill.payable else "credited"

    # --- money and value --------------------------------------------------------------------------

    def pay(self, place: int, amount: Decimal) -> None:
        bill = self.bills[place]
        if bill.status not in LIVE or amount > bill.outstanding:
            raise Refused
        bill.paid += amount
        self.payments.append([place, amount, True])
        self._close_if_done(bill)

    def reverse(self, payment: int) -> None:
        place, amount, is_live = self.payments[payment]
        if not is_live:
            return
        self.payments[payment][2] = False
        bill = self.bills[place]
        bill.paid -= amount
        if bill.status == "settled":
            bill.status = bill.before

    def vary(self, key: str, delta: Decimal) -> None:
        limit = min(share(self.original, LIMIT_SHARE), LIMIT_AMOUNT)
        grown = self.increases + max(delta, NIL)
        if delta > 0 and grown > limit:
            raise Refused
        if self.value + delta < self.total("live_work"):
            raise Refused
        if self.milestones[key] + delta < self.billed_of(key):
            raise Refused
        self.value, self.increases = cents(self.value + delta), grown
        self.milestones[key] += delta
