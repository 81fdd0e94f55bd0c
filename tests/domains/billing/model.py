"""What a subscription should cost, told a second time: plain, slow, and without our services.

It knows three moments of a day: midnight, when time moves things; eight o'clock, when a failed
charge is tried again; ten o'clock, when people act. Money is in cents.
"""

import calendar
from dataclasses import dataclass, field
from datetime import date, timedelta

BY_MONTH = {"starter": 49900, "professional": 149900, "enterprise": 499900}
PRICES = {(plan, "month"): price for plan, price in BY_MONTH.items()}
PRICES |= {(plan, "year"): 10 * price for plan, price in BY_MONTH.items()}
RETRY_DAYS = (1, 3, 7, 14, 21)
GRACE, FULL_REFUND, MOST_PAUSED = 14, 7, 90
DAY = timedelta(days=1)


def half_up(amount: int, part: int, of: int) -> int:
    return (2 * amount * part + of) // (2 * of)


def vat(gross: int) -> int:
    return half_up(gross, 15, 115)


def later(anchor: date, months: int) -> date:
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    return date(year, month + 1, min(anchor.day, calendar.monthrange(year, month + 1)[1]))


def next_start(anchor: date, interval: str, after: date) -> date:
    step, n = (1 if interval == "month" else 12), 0
    while later(anchor, n * step) <= after:
        n += 1
    return later(anchor, n * step)


@dataclass
class Invoice:
    gross: int
    due: int
    credited: int = 0
    notes: list[tuple[int, int]] = field(default_factory=list)  # gross and VAT of each


@dataclass
class Line:
    invoice: Invoice
    gross: int
    days: int
    end: date


@dataclass
class Failure:
    line: Line
    first: date
    hard: bool
    settled: bool = False
    ended: bool = False


@dataclass
class Plan:
    plan: str
    interval: str
    anchor: date
    end: date
    line: Line
    full_days: int
    begun: date
    card: int
    paid: int  # by card
    bought: int  # which invoice was its first
    status: str = "active"
    changed: bool = False
    scheduled: str | None = None
    cancel_on: date | None = None
    paused_on: date | None = None
    resume_on: date | None = None
    banked: int = 0
    pauses: list[date] = field(default_factory=list)
    failure: Failure | None = None


class Refused(Exception): ...


class Model:
    def __init__(self) -> None:
        self.card, self.cards, self.credit, self.refunded = "ok", 1, 0, 0
        self.refused: set[int] = set()  # cards that are never charged again
        self.invoices: list[Invoice] = []
        self.failures: list[Failure] = []
        self.held: Plan | None = None

    def midnight(self, day: date) -> None:
        for failure in self.failures:
            if not failure.settled and not failure.ended and day == failure.first + 30 * DAY:
                self._give_up(failure, day)
        if self.held is not None and self.held.cancel_on == day:
            self.held = None
        if (plan := self.held) is None:
            return
        if plan.status == "paused" and plan.resume_on == day:
            self._go_on(plan, day)
        if plan.status == "active" and plan.end == day:
            self._renew(plan, day)

    def morning(self, day: date) -> None:
        for failure in self.failures:
            after = (day - failure.first).days
            if failure.settled or failure.ended or after not in RETRY_DAYS:
                continue
            if not failure.line.invoice.due:
                self._recover(failure, day)  # nothing is left of it to pay
            elif not failure.hard and self._card_of():
                self._charge(failure, day)
            if after == RETRY_DAYS[-1] and self.held and self.held.failure is failure:
                self.held.status = "suspended"

    def _renew(self, plan: Plan, day: date) -> None:
        if plan.scheduled is not None:
            plan.plan, plan.scheduled = plan.scheduled, None
        plan.end = next_start(plan.anchor, plan.interval, day)
        plan.full_days = (plan.end - day).days
        gross = PRICES[plan.plan, plan.interval]
        used = min(self.credit, gross)
        self.credit -= used
        invoice = self._issue(gross, gross - used)
        plan.line = Line(invoice, gross, plan.full_days, plan.end)
        card = self._card_of(plan)
        if not invoice.due or (card and self._pays(card)):
            invoice.due = 0
            return
        plan.status = "past_due"
        plan.failure = Failure(plan.line, day, not card or card in self.refused)
        self.failures.append(plan.failure)

    def _card_of(self, plan: Plan | None = None) -> int:
        left = {0, *range(1, self.cards + 1)} - self.refused  # 0: there is no card
        return plan.card if plan and plan.card in left else max(left)

    def _pays(self, card: int) -> bool:
        if not card or card in self.refused:
            raise Refused
        self.refused |= {card} if self.card == "hard" else set()
        return self.card == "ok"

    def _issue(self, gross: int, due: int) -> Invoice:
        self.invoices.append(Invoice(gross, due))
        return self.invoices[-1]

    def _note(self, invoice: Invoice, amount: int) -> int:
        """What is still owed is not any more; the rest is credit."""
        before, invoice.credited = invoice.credited, invoice.credited + amount
        invoice.notes.append((amount, vat(invoice.credited) - vat(before)))
        owed = min(amount, invoice.due)
        invoice.due -= owed
        return amount - owed

    def _take_back(self, line: Line, days: int) -> int:
        """These days of a line are not to be paid for; what of it becomes credit."""
        back = half_up(line.gross, days, line.days) if days > 0 else 0
        line.gross, line.days = line.gross - back, line.days - max(days, 0)
        return self._note(line.invoice, back) if back else 0

    def _undelivered(self, failure: Failure, until: date) -> int:
        first = failure.first + (GRACE + 1) * DAY
        return self._take_back(failure.line, (min(until, failure.line.end) - first).days)

    def _charge(self, failure: Failure, day: date) -> None:
        failure.hard = not self._pays(self._card_of()) and self.card == "hard"
        if self.card == "ok":
            failure.line.invoice.due = 0
            self._recover(failure, day)

    def _recover(self, failure: Failure, day: date) -> None:
        failure.settled = True
        self.credit += 0 if failure.ended else self._undelivered(failure, day)
        if (plan := self.held) and plan.failure is failure:
            plan.status, plan.failure = "active", None
            if plan.end <= day:
                plan.anchor = day
                self._renew(plan, day)

    def _give_up(self, failure: Failure, day: date) -> None:
        failure.ended = True
        self.credit += self._undelivered(failure, day)
        if self.held is not None and self.held.failure is failure:
            self.held = None

    def _go_on(self, plan: Plan, day: date) -> None:
        assert plan.paused_on is not None
        first = max(day, plan.paused_on + DAY)
        end = first + plan.banked * DAY
        if end != plan.end:
            plan.anchor = plan.end = plan.line.end = end
        if day == plan.paused_on:
            plan.pauses.remove(day)
        plan.status, plan.paused_on, plan.resume_on = "active", None, None

    def buy(self, day: date, plan: str, interval: str) -> None:
        if self.held is not None:
            raise Refused
        price = PRICES[plan, interval]
        used = min(self.credit, price)
        if price > used and not self._pays(self.cards):
            return  # an abandoned sign-up leaves nothing
        self.credit -= used
        end = next_start(day, interval, day)
        line = Line(self._issue(price, 0), price, (end - day).days, end)
        bought = (price - used, len(self.invoices) - 1)
        self.held = Plan(plan, interval, day, end, line, line.days, day, self.cards, *bought)

    def change(self, day: date, plan: str, interval: str) -> None:
        if (held := self.held) is None or held.status != "active" or held.cancel_on is not None:
            raise Refused
        if (plan, interval) == (held.plan, held.interval):
            if held.scheduled is None and held.changed:
                return  # a repeat of what was asked for once
            raise Refused
        if interval == held.interval and BY_MONTH[plan] < BY_MONTH[held.plan]:
            held.scheduled = plan
            return
        anew = interval != held.interval
        back = half_up(held.line.gross, (held.line.end - day).days, held.line.days)
        price, end = PRICES[plan, interval], next_start(day, interval, day) if anew else held.end
        days = (end - day).days
        charge = price if anew else half_up(price, days, held.full_days)
        used = min(charge, self.credit + back)
        if charge > used and not self._pays(self._card_of(held)):
            return  # nothing changes without the money
        if back:
            self._note(held.line.invoice, back)
        self.credit += back - used
        held.paid += charge - used
        held.line = Line(self._issue(charge, 0), charge, days, end)
        held.plan, held.interval, held.scheduled, held.changed = plan, interval, None, True
        if anew:
            held.anchor, held.end, held.full_days = day, end, days

    def pause(self, day: date, resume_on: date | None) -> None:
        held = self.held
        if held is not None and held.status == "paused":
            return
        lately = [one for one in held.pauses if (day - one).days < 365] if held else []
        if held is None or held.status != "active" or held.cancel_on or len(lately) >= 2:
            raise Refused
        held.status, held.paused_on = "paused", day
        held.resume_on = resume_on or day + MOST_PAUSED * DAY
        held.banked = (held.end - day - DAY).days
        held.pauses.append(day)

    def resume(self, day: date) -> None:
        if self.held is None or self.held.status != "paused":
            raise Refused
        self._go_on(self.held, day)
        if self.held.end == day:  # no paid day was left
            self._renew(self.held, day)

    def cancel(self, day: date, *, at_once: bool) -> None:
        if (held := self.held) is None or (held.status == "paused" and not at_once):
            raise Refused
        if not at_once and held.end > day:
            held.cancel_on, held.scheduled = held.end, None
            return
        self.held = None
        last = held.paused_on or day
        if at_once and (day - held.begun).days <= FULL_REFUND:
            self._refund(held)
        elif at_once:
            self.credit += self._take_back(held.line, (held.line.end - last - DAY).days)
            held.line.end = min(held.line.end, last + DAY)

    def _refund(self, plan: Plan) -> None:
        """In the first days all is given back, by card as far as it came by card."""
        left = [one for one in self.invoices[plan.bought :] if one.gross > one.credited]
        given = sum(self._note(one, one.gross - one.credited) for one in left)
        back = min(given, plan.paid)
        self.credit, self.refunded = self.credit + given - back, self.refunded + back

    def undo(self, day: date) -> None:
        if self.held is None or self.held.cancel_on is None:
            raise Refused
        self.held.cancel_on = None

    def retry(self, day: date) -> None:
        waiting = [one for one in self.failures if not one.settled]
        if not waiting or not waiting[-1].line.invoice.due:
            raise Refused
        self._charge(waiting[-1], day)

    def replace_card(self, day: date) -> None:
        self.card, self.cards = "ok", self.cards + 1
        for failure in self.failures:
            if not failure.settled and failure.line.invoice.due:
                self._charge(failure, day)
