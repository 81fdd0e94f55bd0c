"""A second, slow implementation of the money rules, in plain decimals, written from the rules.

It shares no code with the services: it keeps every document and adds them up anew for each answer.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext

CENT = Decimal("0.01")
NIL = Decimal("0.00")


def cents(number: Decimal) -> Decimal:
    return number.quantize(CENT, ROUND_HALF_UP)


def share(amount: Decimal, percent: Decimal) -> Decimal:
    with localcontext() as exact:
        exact.prec = 60
        return cents(amount * percent / 100)


def vat_inside(amount: Decimal, rate: Decimal | None) -> Decimal:
    if rate is None:
        return NIL
    with localcontext() as exact:
        exact.prec = 60
        return cents(amount * rate / (100 + rate))


def part(whole: Decimal, of: Decimal, among: Decimal) -> Decimal:
    with localcontext() as exact:
        exact.prec = 60
        return cents(whole * of / among)


@dataclass
class Bill:
    """One submitted invoice with everything that happened to it."""

    kind: str
    work: Decimal
    retained: Decimal
    recovered: Decimal
    payable: Decimal
    vat: Decimal
    credits: list[Decimal] = field(default_factory=list)
    paid: Decimal = NIL
    claimed: Decimal = NIL
    written_off: Decimal = NIL

    def returned(self, whole: Decimal) -> Decimal:
        credited = sum(self.credits, NIL)
        return part(whole, credited, self.payable) if credited else NIL

    @property
    def live_work(self) -> Decimal:
        if not self.work:
            return NIL
        credited = sum(self.credits, NIL)
        back = credited + self.returned(self.retained) + self.returned(self.recovered)
        return self.work - back

    @property
    def live_retained(self) -> Decimal:
        return self.retained - self.returned(self.retained)

    @property
    def live_recovered(self) -> Decimal:
        return self.recovered - self.returned(self.recovered)

    @property
    def live_payable(self) -> Decimal:
        return self.payable - sum(self.credits, NIL)

    @property
    def live_vat(self) -> Decimal:
        return self.vat - self.returned(self.vat)

    @property
    def outstanding(self) -> Decimal:
        return self.live_payable - self.paid - self.written_off


@dataclass
class SlowContract:
    """A contract that remembers its documents and nothing else."""

    value: Decimal
    retention_percent: Decimal = Decimal(0)
    cap_percent: Decimal = Decimal(0)
    advance_percent: Decimal = Decimal(0)
    recovery_percent: Decimal = Decimal(0)
    rate: Decimal | None = Decimal(15)
    when_due: bool = True
    bills: list[Bill] = field(default_factory=list)

    def total(self, name: str, kind: str | None = None) -> Decimal:
        chosen = [bill for bill in self.bills if kind in (None, bill.kind)]
        return sum((getattr(bill, name) for bill in chosen), NIL)

    @property
    def advance_due(self) -> Decimal:
        return share(self.value, self.advance_percent)

    @property
    def cap(self) -> Decimal:
        return max(share(self.value, self.cap_percent), self.total("live_retained"))

    def progress(self, work: Decimal) -> Bill:
        retained = share(work, self.retention_percent)
        retained = max(min(retained, self.cap - self.total("live_retained")), NIL)
        open_advance = self.total("live_payable", "advance") - self.total("live_recovered")
        recovered = min(share(work, self.recovery_percent), open_advance, work - retained)
        payable = work - retained - recovered
        taxed = payable if self.when_due else work - recovered
        return self._keep(
            Bill("progress", work, retained, recovered, payable, vat_inside(taxed, self.rate))
        )

    def advance(self, amount: Decimal) -> Bill:
        return self._keep(Bill("advance", NIL, NIL, NIL, amount, vat_inside(amount, self.rate)))

    def release(self, amount: Decimal) -> Bill:
        taxed = amount if self.when_due else NIL
        return self._keep(
            Bill("retention_release", NIL, NIL, NIL, amount, vat_inside(taxed, self.rate))
        )

    def _keep(self, bill: Bill) -> Bill:
        self.bills.append(bill)
        return bill

    def accounts(self) -> dict[str, Decimal]:
        """What each account of the journal must show, from the documents alone."""
        vat = self.total("live_vat")
        released = self.total("live_payable", "retention_release")
        advanced = self.total("live_payable", "advance")
        return {
            "receivable": self.total("outstanding"),
            "bank": self.total("paid"),
            "write_off": self.total("written_off"),
            "retention": self.total("live_retained") - released,
            "advance": self.total("live_recovered") - advanced,
            "vat_output": -vat,
            "work": vat - self.total("live_work"),
        }


def due_by_counting(received: date, days: int) -> date:
    """The due date by counting days one by one."""
    day = received
    for _ in range(days):
        day += timedelta(days=1)
    return day


def age_by_counting(due: date, today: date) -> str:
    """The bucket by counting days one by one."""
    late = 0
    while due < today:
        due += timedelta(days=1)
        late += 1
    if late == 0:
        return "not_due"
    for last, name in ((30, "days_1_30"), (60, "days_31_60"), (90, "days_61_90")):
        if late <= last:
            return name
    return "days_91_up"
