"""Packs without a server: manifests, archives, texts and the classes of findings."""

import io
import zipfile
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from pypdf import PdfReader

from thenga.domains.bid.services.packs import archives, rules, texts
from thenga.domains.bid.services.packs.archives import Entry, Frame
from thenga.domains.bid.services.packs.rules import Found
from thenga.domains.bid.values.findings import Class

AS_OF = datetime(2027, 3, 30, 14, tzinfo=UTC)
FRAME = Frame(pack_id="0192f3c4-0000-7000-8000-0000000000b1", amendment_number=2, as_of=AS_OF)
ABC = sha256(b"abc").hexdigest()


@pytest.mark.rule("BID-45")
def test_the_sheets_manifest_has_the_sheets_hash() -> None:
    told = archives.manifest("technical", [Entry("01-SBD1.pdf", ABC, 3)], FRAME)

    assert sha256(told).hexdigest() == (
        "a4abbf3a9dc14f16a0188102d4a674fc59203988118a8f810491c707096c18cc"
    )


@pytest.mark.rule("BID-43")
def test_an_override_changes_the_manifest() -> None:
    override = {"at": "x", "by": "N. Dube", "finding": "mandatory_gap:a", "reason": "r"}
    frame = Frame(pack_id=FRAME.pack_id, amendment_number=2, as_of=AS_OF, overrides=[override])

    told = archives.manifest("technical", [], frame)

    assert b"N. Dube" in told
    assert told != archives.manifest("technical", [], FRAME)


@pytest.mark.rule("BID-45")
def test_the_hash_of_two_envelopes_covers_both() -> None:
    one = archives.pack_hash({"technical": b"a", "financial": b"b"})

    assert one != archives.pack_hash({"technical": b"a", "financial": b"c"})
    assert archives.pack_hash({"single": b"a"}) == sha256(b"a").hexdigest()


@pytest.mark.rule("BID-44")
def test_an_archive_has_no_time_of_its_own_and_keeps_order() -> None:
    made = []
    for files in ({"02-b.pdf": b"b", "01-a.pdf": b"a"}, {"01-a.pdf": b"a", "02-b.pdf": b"b"}):
        out = io.BytesIO()
        archives.write_archive(out, files, b"{}")
        made.append(out.getvalue())

    assert made[0] == made[1]
    with zipfile.ZipFile(io.BytesIO(made[0])) as archive:
        entries = archive.infolist()
    assert [one.filename for one in entries] == ["01-a.pdf", "02-b.pdf", "manifest.json"]
    assert {one.date_time for one in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {one.compress_type for one in entries} == {zipfile.ZIP_STORED}


@pytest.mark.rule("BID-44")
@pytest.mark.parametrize(
    ("title", "media_type", "expected"),
    [
        ("SBD1", "application/pdf", "01-SBD1.pdf"),
        ("../../etc/passwd", "application/pdf", "01-etc-passwd.pdf"),
        ("Ḓimeḓa … ", "image/png", "01-Dimeda.png"),
        ("…", "text/csv", "01-file.csv"),
    ],
)
def test_names_in_an_archive_are_plain(title: str, media_type: str, expected: str) -> None:
    assert archives.path_of(1, 9, title, media_type) == expected


@pytest.mark.rule("BID-42")
def test_every_check_says_whether_it_can_be_overridden() -> None:
    found = rules.lay_out(
        [
            Found("price_not_approved", "price", "The price is not approved."),
            Found("mandatory_gap", "requirement:1", "Not met."),
            Found("margin_low", "workbook", "Low."),
        ]
    )

    shown = {one.key: (one.severity, one.overridable) for one in found}
    assert shown["price_not_approved:price"] == (Class.BLOCKING, False)
    assert shown["mandatory_gap:requirement:1"] == (Class.BLOCKING, True)
    assert shown["margin_low:workbook"] == (Class.HIGH_RISK, False)
    assert shown["closing_passed:pack"] == (Class.PASSED, False)
    assert not {one.code for one in found} & set() and len(found) == len(
        {*rules.FIXED, *rules.OVERRIDABLE, *rules.HIGH_RISK, *rules.WARNINGS}
    )


@pytest.mark.rule("BID-23")
async def test_a_proposal_is_printed_from_data() -> None:
    content = (
        '# Method\n\nWe **build** `#read("secret.txt")` *well*.\n\n- one\n- two\n\n'
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>alert(1)</script>\n"
    )

    made = [
        await texts.print_draft("Method", [("Approach", content)], bidder="Dimeda", made_at=AS_OF)
        for _ in range(2)
    ]

    text = " ".join(PdfReader(io.BytesIO(made[0])).pages[0].extract_text().split())
    assert made[0] == made[1]
    assert 'We build #read("secret.txt") well.' in text
    assert "one" in text and "page 1 of 1" in text
