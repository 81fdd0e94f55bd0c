"""Which moves quote requests and their recipients can make."""

from thenga.domains.marketplace.tables.quote_requests import (
    QuoteRecipientStatus,
    QuoteRequestStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

S = QuoteRequestStatus
R = QuoteRecipientStatus
_UNDECIDED = (R.INVITED, R.QUOTING, R.QUOTED)


class QuoteRequestLifecycle(Lifecycle, initial=S.DRAFT):
    """The customer sends and cancels; time and the quotes of Supplier do the rest (MKT-30).

    An offer or an acceptance that was on its way when the request expired is a fact, and counts.
    """

    send = Move(S.DRAFT, to=S.SENT)
    cancel = Move(S.DRAFT, S.SENT, S.EVALUATING, to=S.CANCELLED)
    evaluate = Move(S.SENT, to=S.EVALUATING, by=By.SYSTEM)
    accept = Move(S.SENT, S.EVALUATING, S.EXPIRED, to=S.ACCEPTED, by=By.SYSTEM)
    expire = Move(S.EVALUATING, to=S.EXPIRED, by=By.SYSTEM)
    reopen = Move(S.EXPIRED, to=S.EVALUATING, by=By.SYSTEM)


class QuoteRecipientLifecycle(Lifecycle, initial=R.INVITED):
    """What Supplier says of the quote of one recipient (MKT-30).

    An acceptance is a fact, whatever was known of the quote before.
    """

    acknowledge = Move(R.INVITED, to=R.QUOTING, by=By.SYSTEM)
    quote = Move(R.INVITED, R.QUOTING, to=R.QUOTED, by=By.SYSTEM)
    accept = Move(*_UNDECIDED, R.NOT_SELECTED, R.DECLINED, to=R.ACCEPTED, by=By.SYSTEM)
    pass_over = Move(*_UNDECIDED, to=R.NOT_SELECTED, by=By.SYSTEM)
    decline = Move(*_UNDECIDED, to=R.DECLINED, by=By.SYSTEM)
