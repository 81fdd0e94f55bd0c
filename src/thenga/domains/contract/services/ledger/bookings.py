"""The journal's bookings, one pure function each: positive is debit, negative is credit (CON-26).

VAT leaves the work account when it falls due: with each payable amount, not with the work.
"""

from dataclasses import dataclass

from thenga.domains.contract.tables import Account, EntryKind
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Line:
    """One side of a booking."""

    account: Account
    amount: Money


@dataclass(frozen=True, slots=True)
class Booking:
    """An entry before it is written."""

    kind: EntryKind
    lines: tuple[Line, ...]

    def reversed(self, kind: EntryKind) -> "Booking":
        """The same accounts the other way round."""
        return Booking(kind, tuple(Line(one.account, -one.amount) for one in self.lines))


def _booking(kind: EntryKind, *sides: tuple[Account, Money]) -> Booking:
    return Booking(kind, tuple(Line(account, amount) for account, amount in sides if amount))


def progress_booking(*, payable: Money, retained: Money, recovered: Money, vat: Money) -> Booking:
    """Work is claimed: part is payable, part retained, part pays back the advance."""
    work = payable + retained + recovered
    return _booking(
        EntryKind.INVOICE,
        (Account.RECEIVABLE, payable),
        (Account.RETENTION, retained),
        (Account.ADVANCE, recovered),
        (Account.WORK, vat - work),
        (Account.VAT_OUTPUT, -vat),
    )


def advance_booking(*, payable: Money, vat: Money) -> Booking:
    """The buyer pays ahead of the work."""
    return _booking(
        EntryKind.INVOICE,
        (Account.RECEIVABLE, payable),
        (Account.ADVANCE, -payable),
        (Account.WORK, vat),
        (Account.VAT_OUTPUT, -vat),
    )


def release_booking(*, payable: Money, vat: Money) -> Booking:
    """Retained money becomes payable."""
    return _booking(
        EntryKind.INVOICE,
        (Account.RECEIVABLE, payable),
        (Account.RETENTION, -payable),
        (Account.WORK, vat),
        (Account.VAT_OUTPUT, -vat),
    )


def payment_booking(amount: Money) -> Booking:
    """Money reached the bank."""
    return _booking(EntryKind.PAYMENT, (Account.BANK, amount), (Account.RECEIVABLE, -amount))


def write_off_booking(amount: Money) -> Booking:
    """The rest of an invoice is no longer expected."""
    return _booking(EntryKind.WRITE_OFF, (Account.WRITE_OFF, amount), (Account.RECEIVABLE, -amount))
