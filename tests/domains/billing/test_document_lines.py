"""How the net of a document is spread over its lines, to the cent and never above a line."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import documents
from thenga.domains.billing.services.invoicing.invoices import _line
from thenga.domains.billing.services.invoicing.lines import spread_credit, spread_net
from thenga.domains.billing.services.pricing.vat import split_credit_vat, split_vat
from thenga.domains.billing.tables import Book, Invoice, InvoiceLine, Purpose
from thenga.kernel.values.money import Money

GROSS = st.lists(st.integers(1, 10**7), min_size=1, max_size=6)


def an_invoice(grosses: list[int]) -> list[InvoiceLine]:
    """The lines of an issued invoice, with their nets."""
    total = split_vat(Money(sum(grosses), "ZAR"), documents.FIFTEEN)
    invoice = Invoice(
        id=uuid4(),
        organization_id=uuid4(),
        account_id=uuid4(),
        purpose=Purpose.RENEWAL,
        book=Book.LIVE,
        seller_code="thenga",
        title="Tax Invoice",
        recipient={},
        currency="ZAR",
        gross_minor=total.gross.minor,
        net_minor=total.net.minor,
        vat_minor=total.vat.minor,
        amount_due_minor=total.gross.minor,
    )
    lines = [
        _line(invoice, place, documents.line(Money(gross, "ZAR").amount))
        for place, gross in enumerate(grosses, 1)
    ]
    for line, net in zip(lines, spread_net(total.net, lines), strict=True):
        line.id, line.net_minor = UUID(int=line.position), net.minor
    return lines


@pytest.mark.rule("BIL-5")
@given(GROSS)
def test_the_nets_of_the_lines_sum_to_the_net_of_the_document(grosses: list[int]):
    lines = an_invoice(grosses)

    net = split_vat(Money(sum(grosses), "ZAR"), documents.FIFTEEN).net
    assert sum(line.net_minor or 0 for line in lines) == net.minor


@pytest.mark.rule("BIL-27")
@given(GROSS, st.data())
def test_credit_notes_are_borne_whole_and_never_above_a_line(
    grosses: list[int], data: st.DataObject
):
    """Note after note, in any parts, until nothing is left of any line."""
    lines = an_invoice(grosses)
    left = {line.id: line.gross_minor for line in lines}
    before = Money(0, "ZAR")
    while left:
        chosen = data.draw(st.sampled_from(sorted(left)))
        part = data.draw(st.integers((left[chosen] + 2) // 3, left[chosen]))
        taxed = split_credit_vat(Money(part, "ZAR"), before=before, rate_pct=documents.FIFTEEN)
        borne = spread_credit(taxed.net, {chosen: part}, lines)
        assert sum(borne.values()) == taxed.net.minor
        for line in lines:
            line.credited_net_minor += borne[line.id]
            assert line.credited_net_minor <= (line.net_minor or 0)
        before += taxed.gross
        left[chosen] -= part
        left = {one: rest for one, rest in left.items() if rest}
    assert all(line.credited_net_minor == line.net_minor for line in lines)
