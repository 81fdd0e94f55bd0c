"""Forms without a server: catalogue, answers, findings, print and the hash of a signature."""

import io
from collections.abc import Mapping
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from pypdf import PdfReader

from thenga.domains.bid.services.forms import catalogue, checks, rendering
from thenga.domains.bid.services.forms.checks import AnswerFault, DirectorFlags
from thenga.domains.bid.services.forms.signing import Signing, payload_sha256
from thenga.domains.bid.values import form_sheets
from thenga.domains.bid.values.findings import Class
from thenga.domains.bid.values.form_sheets import Plain
from thenga.domains.bid.values.forms import Answer, AnswerState, Definition, Filled, Known, fill
from thenga.domains.opportunity.public import TenderForm
from thenga.kernel.files import printing

AT = datetime(2027, 3, 24, 13, 58, tzinfo=UTC)
NAME = 'Ḓimeḓa Works #read("secret.txt") (Pty) Ltd'
REF = {"domain": "organization", "type": "fact", "id": "x", "version": 1}
CLOSING = date(2027, 4, 1)


def form(code: str) -> Definition:
    found = catalogue.definition_of(code, None)
    assert found is not None
    return found


def by_person(value: Any) -> Answer:
    return Answer(value=value, provenance="person", confirmed_at=AT.isoformat())


def by_source() -> Answer:
    return Answer(ref=REF, confirmed_at=AT.isoformat())


def said(**values: Any) -> dict[str, Known]:
    return {name.replace("__", "."): Known(value=one, ref=REF) for name, one in values.items()}


def printed(code: str, filled: Mapping[str, Filled], plain: Plain | None = None) -> str:
    sheet = form_sheets.sheet_of(form(code), filled, plain or Plain())
    made = printing.typeset(rendering.TEMPLATE, sheet, made_at=AT)
    again = printing.typeset(rendering.TEMPLATE, sheet, made_at=AT)
    assert made.content == again.content
    pages = PdfReader(io.BytesIO(made.content)).pages
    text = [" ".join(page.extract_text().split()) for page in pages]
    count = len(text)
    assert all(f"page {number} of {count}" in page for number, page in enumerate(text, 1))
    return " ".join(text)


# --- Catalogue ------------------------------------------------------------------------------------


@pytest.mark.rule("BID-18")
def test_the_catalogue_has_the_four_forms_with_official_titles() -> None:
    known = {(one.form_code, one.edition): one.title for one in catalogue.definitions()}

    assert known == {
        ("SBD 1", "2017"): "INVITATION TO BID",
        ("SBD 3.1", "2010"): "PRICING SCHEDULE \u2013 FIRM PRICES (PURCHASES)",
        ("SBD 4", "2022"): "BIDDER\u2019S DISCLOSURE",
        (
            "SBD 6.1",
            "2022",
        ): "PREFERENCE POINTS CLAIM FORM IN TERMS OF THE PREFERENTIAL PROCUREMENT REGULATIONS 2022",
    }


@pytest.mark.rule("BID-18")
@pytest.mark.parametrize(
    ("code", "title", "edition", "regime", "found"),
    [
        ("SBD 4", "Bidder's Disclosure", None, "pfma", "SBD 4"),
        (None, "SBD 4: Bidder\u2019s disclosure", None, "pfma", "SBD 4"),
        ("SBD4", "BIDDERS DISCLOSURE", "2022", "pfma", "SBD 4"),
        ("MBD 4", "Declaration of interest", None, "mfma", None),
        ("SBD 4", "Declaration of interest", None, "pfma", None),
        ("SBD 4", "Bidder's disclosure", None, "mfma", None),
        ("SBD 4", "Bidder's disclosure", "2011", "pfma", None),
        ("SBD 5", "National industrial participation", None, "pfma", None),
    ],
)
def test_a_form_is_matched_by_title_and_regime(
    code: str | None, title: str, edition: str | None, regime: str, found: str | None
) -> None:
    listed = TenderForm(code=code, title=title, edition=edition)

    matched = catalogue.match(listed, regime=regime, on=CLOSING)

    assert (matched.form_code if matched else None) == found


@pytest.mark.rule("BID-18")
def test_every_field_of_a_form_is_printed_in_its_place() -> None:
    for one in catalogue.definitions():
        placed = _placed(one.layout)
        fields = [field.id for field in one.fields if field.type != "accept"]
        assert sorted(placed) == sorted(fields), one.form_code


def _placed(layout: Any) -> list[str]:
    ids: list[str] = []
    for block in layout:
        ids += [field for row in block.get("rows", ()) for field in row]
        ids += [field for column in block.get("columns", ()) for field in column["fields"]]
        ids += block.get("ask", ())
        ids += [block[name] for name in ("tick", "table") if name in block]
    return ids


# --- Answers --------------------------------------------------------------------------------------


@pytest.mark.rule("BID-19")
def test_declarations_have_no_source_and_no_default() -> None:
    filled = fill(form("SBD 4"), {}, said(fact__legalName=NAME))

    asked = [filled[name] for name in ("2.1", "2.1.1", "2.2", "2.3", "3.name", "3.accept")]
    assert {one.state for one in asked} == {AnswerState.MISSING}
    assert [one.value for one in asked] == [None] * 6
    assert filled["sig.bidder_name"].state is AnswerState.PROPOSED


@pytest.mark.rule("BID-25")
def test_an_answer_is_stale_when_its_source_has_moved() -> None:
    definition, newer = form("SBD 1"), REF | {"version": 2}

    same = fill(definition, {"s.vat_number": by_source()}, said(fact__vatNumber="4123456789"))
    moved = fill(
        definition,
        {"s.vat_number": by_source()},
        {"fact.vatNumber": Known(value="4999999999", ref=newer)},
    )

    assert same["s.vat_number"].state is AnswerState.CONFIRMED
    assert moved["s.vat_number"].state is AnswerState.STALE


@pytest.mark.rule("BID-25")
def test_a_claim_is_stale_when_the_goals_have_moved() -> None:
    claims = Answer(value={"women": {"claim8020": "4"}}, ref=REF, confirmed_at=AT.isoformat())

    same = fill(form("SBD 6.1"), {"4.table": claims}, said(tender__goals=[]))
    moved = {"tender.goals": Known(value=[], ref=REF | {"version": 2})}
    other = fill(form("SBD 6.1"), {"4.table": claims}, moved)

    assert same["4.table"].value == {"women": {"claim8020": "4"}}
    states = [one["4.table"].state for one in (same, other)]
    assert states == [AnswerState.CONFIRMED, AnswerState.STALE]


@pytest.mark.rule("BID-18")
@pytest.mark.parametrize(
    ("code", "field", "value"),
    [
        ("SBD 4", "2.1", "maybe"),
        ("SBD 4", "2.1", True),
        ("SBD 4", "3.accept", False),
        ("SBD 4", "2.1.1", [{"directorId": "d", "institution": "DWS", "idNumber": "80"}]),
        ("SBD 4", "2.1.1", [{"directorId": "d"}]),
        ("SBD 3.1", "l.delivery_firm", "Sometimes"),
        ("SBD 3.1", "t.total", "494041.60"),
        ("SBD 1", "s.vat_number", "123"),
        ("SBD 6.1", "4.table", {"women": {"claim8020": "4.01"}}),
        ("SBD 6.1", "4.table", {"youth": {"claim8020": "1"}}),
        ("SBD 6.1", "4.table", {"women": {"claim8020": "NaN"}}),
        ("SBD 6.1", "4.table", {"women": {"claim8020": 4}}),
    ],
)
def test_impossible_answers_are_refused(code: str, field: str, value: Any) -> None:
    known = form(code).field(field)
    goals = {"women": {"points_8020": "4", "points_9010": "2"}}
    assert known is not None

    with pytest.raises(AnswerFault):
        checks.checked_value(known, value, goals)


@pytest.mark.rule("BID-20")
@pytest.mark.parametrize(
    ("flags", "answer", "expected"),
    [
        (("yes", "no"), "no", ("declaration_contradiction", Class.BLOCKING)),
        (("yes", "no"), "yes", None),
        (("no", "yes"), "yes", ("declaration_contradiction", Class.BLOCKING)),
        (("possible", "no"), "no", ("flag_unknown", Class.HIGH_RISK)),
        (("unknown", "no"), "no", ("flag_unknown", Class.HIGH_RISK)),
        (("no", "no"), "no", None),
    ],
)
def test_a_declaration_is_compared_with_the_directors(
    flags: tuple[str, str], answer: str, expected: tuple[str, Class] | None
) -> None:
    filled = fill(form("SBD 4"), {"2.1": by_person(answer)}, {})

    found = checks.check(
        form("SBD 4"), filled, directors=[DirectorFlags("N. Dube", *flags)], claims={}
    )

    about = [one for one in found if one.code in ("declaration_contradiction", "flag_unknown")]
    assert [(one.code, one.severity) for one in about] == ([expected] if expected else [])


@pytest.mark.rule("BID-18")
def test_rows_are_needed_with_yes_and_contradict_no() -> None:
    rows = by_person([{"directorId": "d1", "institution": "DWS"}])

    codes = [
        {one.code for one in checks.check(form("SBD 4"), filled, directors=[], claims={})}
        for filled in (
            fill(form("SBD 4"), {"2.1": by_person("yes")}, {}),
            fill(form("SBD 4"), {"2.1": by_person("no"), "2.1.1": rows}, {}),
        )
    ]

    assert "answer_missing" in codes[0]
    assert "declaration_contradiction" in codes[1]


@pytest.mark.rule("BID-20")
@pytest.mark.parametrize(
    ("claims", "differs"),
    [
        ({"women": {"claim_8020": "4.00"}}, False),
        ({"women": {"claim_8020": "3.99"}}, True),
        ({"women": {"claim_8020": "4"}, "youth": {"claim_9010": "1"}}, True),
        ({}, False),
    ],
)
def test_claimed_points_are_those_of_the_scenario(claims: Any, differs: bool) -> None:
    stated = {"4.table": by_person({"women": {"claim8020": "4", "claim9010": None}})}
    filled = fill(form("SBD 6.1"), stated, said(tender__goals=[]))

    found = checks.check(form("SBD 6.1"), filled, directors=[], claims=claims)

    about = [one.severity for one in found if one.code == "goals_differ"]
    assert about == ([Class.HIGH_RISK] if differs else [])


@pytest.mark.rule("BID-18")
def test_a_foreign_supplier_answers_the_questionnaire() -> None:
    needed = [
        {
            one.subject
            for one in checks.check(form("SBD 1"), filled, directors=None, claims={})
            if one.subject.startswith("field:f.")
        }
        for filled in (
            fill(form("SBD 1"), {"s.foreign_supplier": by_person("no")}, {}),
            fill(form("SBD 1"), {"s.foreign_supplier": by_person("yes")}, {}),
        )
    ]

    assert needed == [set(), {f"field:f.q{number}" for number in range(1, 6)}]


# --- Print and signature --------------------------------------------------------------------------


@pytest.mark.rule("BID-23")
def test_a_name_is_printed_as_text_and_never_as_markup() -> None:
    answers = {"s.name": by_source(), "s.total_bid_price": by_source()}
    known = said(fact__legalName=NAME, workbook__total="494041.60")

    text = printed("SBD 1", fill(form("SBD 1"), answers, known))

    assert NAME in text
    assert "PART A INVITATION TO BID" in text
    assert "PART B TERMS AND CONDITIONS FOR BIDDING" in text
    assert "R 494 041.60" in text


@pytest.mark.rule("BID-24")
def test_identity_numbers_are_in_the_print_and_nowhere_else() -> None:
    answers = {
        "2.1": by_person("yes"),
        "2.1.1": by_person([{"directorId": "d1", "institution": "Department of Water"}]),
    }
    filled = fill(form("SBD 4"), answers, {})
    plain = Plain(id_numbers={"d1": "8001015009087"}, names={"d1": "Nomsa Dube"})

    text = printed("SBD 4", filled, plain)

    assert "Nomsa Dube 8001015009087 Department of Water" in text
    assert "8001015009087" not in str({key: one.answer.to_row() for key, one in filled.items()})


@pytest.mark.rule("BID-45")
def test_no_price_is_printed_in_the_technical_envelope() -> None:
    filled = fill(
        form("SBD 1"), {"s.total_bid_price": by_source()}, said(workbook__total="494041.60")
    )

    sheet = form_sheets.sheet_of(form("SBD 1"), filled, Plain(), leave_out_prices=True)

    assert "494" not in str(sheet)


@pytest.mark.rule("BID-21")
def test_the_sheets_signature_has_the_sheets_hash() -> None:
    signing = Signing("electronic", "Director", sha256(b"abc").hexdigest())

    found = payload_sha256(
        UUID("0192f3c4-0000-7000-8000-0000000000f4"),
        7,
        signing,
        AT,
        UUID("0192f3c4-0000-7000-8000-000000000001"),
    )

    assert found == "1d00e32d2b6ffb52d51b966630827566e8be17e34316531a739a4b3cf5ef313d"
