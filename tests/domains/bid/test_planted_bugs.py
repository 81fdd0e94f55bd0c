"""Planted bugs, each of which makes a test of Bid fail.

Working days without the moved Monday stand in test_planning.py, a ripple for each delivery in
test_amendments.py.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import typst

from tests.domains.bid import (
    test_approvals,
    test_form_rules,
    test_pack_rules,
    test_packs,
    test_price_rules,
)
from tests.factories import bid_offer as offers
from tests.factories.bidding import Bidding
from tests.planting import plant
from thenga.domains.bid.services.approvals import deciding
from thenga.domains.bid.services.approvals.deciding import Decided
from thenga.domains.bid.services.forms import rendering
from thenga.domains.bid.services.packs import archives, building, sealing
from thenga.domains.bid.services.packs.sealing import ClosingPassed
from thenga.domains.bid.services.pricing import arithmetic
from thenga.domains.bid.tables import Pack, Workspace
from thenga.domains.bid.values import forms
from thenga.domains.bid.values.forms import Answer
from thenga.domains.bid.values.prices import Content, ItemVat
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money


@pytest.mark.rule("BID-26")
def test_planted_float_amounts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def line(quantity: Decimal, rate: Decimal) -> Money:
        return Money.of(f"{float(quantity) * float(rate):.2f}")

    monkeypatch.setattr(arithmetic, "line", line)

    with pytest.raises(AssertionError):
        test_price_rules.test_the_sheets_workbook_adds_up()


@pytest.mark.rule("BID-26")
def test_planted_vat_by_line_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = arithmetic._sums

    def by_line(
        content: Content, amounts: Mapping[str, Money], share: Fraction
    ) -> tuple[Money, Money, Money]:
        net, discount, vat = whole(content, amounts, share)
        if content.basis == "vat_inclusive" or discount.minor:
            return net, discount, vat
        taxed = [amounts[k] for k, i in content.items.items() if i.vat is ItemVat.STANDARD]
        lines = (one.times(share) for one in taxed)
        return net, discount, sum(lines, start=Money(0, "ZAR"))

    monkeypatch.setattr(arithmetic, "_sums", by_line)

    off = test_price_rules.cents_off(200)

    print(f"planted cents_off={off}")
    assert off > 0


@pytest.mark.rule("BID-37")
async def test_planted_approval_without_its_hash_is_found(
    bidding: Bidding, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = deciding._check

    async def by_id(work: Work, held: Workspace, approval: Any, decided: Decided) -> None:
        await bound(work, held, approval, replace(decided, subject_sha256=approval.subject_sha256))

    monkeypatch.setattr(deciding, "_check", by_id)

    with pytest.raises(AssertionError):
        await test_approvals.test_the_approver_sees_the_cash_gap_and_decides_a_hash(bidding)


@pytest.mark.rule("BID-5")
async def test_planted_closing_before_the_transaction_is_found(
    bidding: Bidding, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    bidding.workspace = await offers.workspace(host, bidding.owner, terms=test_packs.NO_FORMS)
    pack = await test_packs.ready(bidding)
    moves = test_packs.closes_meanwhile(bidding)

    async def looks_before(work: Work, found: Pack) -> None:
        seen = await work.get(Workspace, found.workspace_id)
        if seen.gate_at is None or work.now >= seen.gate_at:
            raise ClosingPassed()
        await moves(work, found)

    monkeypatch.setattr(sealing, "_check_bytes", looks_before)
    monkeypatch.setattr(sealing, "_check_time", lambda work, workspace: None)

    answer = await test_packs.sealed(bidding, pack)

    assert answer.json().get("code") != "bid-closing-passed"


@pytest.mark.rule("BID-19")
def test_planted_prefilled_no_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = forms._filled

    def prefilled(field: forms.Field, answer: Answer, known: Any) -> forms.Filled:
        if field.type == "yes_no" and not answer.is_confirmed:
            answer = Answer(value="no", provenance="default")
        return asked(field, answer, known)

    monkeypatch.setattr(forms, "_filled", prefilled)

    with pytest.raises(AssertionError):
        test_form_rules.test_declarations_have_no_source_and_no_default()


@pytest.mark.rule("BID-23")
def test_planted_text_in_a_template_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = rendering.TEMPLATE.read_text()
    before, after = source.split("#let fit(value, most) =", 1)
    markup = '#let fit(value, most) = eval(value, mode: "markup")\n#let unused(value, most) ='
    planted = tmp_path / "form.typ"
    planted.write_text(before + markup + after)
    monkeypatch.setattr(rendering, "TEMPLATE", planted)

    with pytest.raises((AssertionError, typst.TypstError)):
        test_form_rules.test_a_name_is_printed_as_text_and_never_as_markup()


@pytest.mark.rule("BID-44")
def test_planted_times_in_an_archive_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_FIRST_DAY", time.localtime()[:6])

    with pytest.raises(AssertionError):
        test_pack_rules.test_an_archive_has_no_time_of_its_own_and_keeps_order()


@pytest.mark.rule("BID-43")
async def test_planted_override_outside_the_manifest_is_found(
    bidding: Bidding, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = building.frame_of

    def without(order: Any) -> archives.Frame:
        return replace(whole(order), overrides=())

    plant(monkeypatch, building, "frame_of", without)

    with pytest.raises(AssertionError):
        await test_packs.test_a_gap_is_overridden_and_an_unapproved_price_is_not(bidding, host)
