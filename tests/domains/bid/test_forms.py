"""Forms over HTTP: filled by reference, declared by people, printed, signed and verified."""

import io
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from pypdf import PdfReader

from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories import facts
from tests.factories.bid_offer import ID_NUMBER, NAME
from tests.factories.bidding import Bidding, dump, rows_of
from tests.factories.compliance_documents import pdf
from thenga.domains.bid.tables import SbdForm, Signature
from thenga.domains.organization.tables import Disclosure
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

DECLARED = {
    "2__1": {"value": "no"},
    "2__2": {"value": "no"},
    "2__3": {"value": "no"},
    "3__name": {"value": "Nomsa Dube"},
    "3__accept": {"accept": True},
}
PRICED = {
    "l__complies_with_spec": {"value": "yes"},
    "l__delivery_period": {"value": "8 weeks"},
    "l__delivery_firm": {"value": "Firm"},
}


async def completed(bidding: Bidding, code: str, **answers: Any) -> Any:
    """A form of the bid that was answered and printed."""
    form = (await bidding.forms(code))[code]
    given = await bidding.answered(form, **answers)
    assert given.status_code == 200, given.text
    done = await bidding.move(form["id"], "complete")
    assert done.status_code == 200, done.text
    return done.json()


async def text_of(bidding: Bidding, form: Any) -> str:
    file = await bidding.get(f"/bids/files/{form['rendering']['fileId']}/content")
    assert file.status_code == 200, file.text
    pages = PdfReader(io.BytesIO(file.content)).pages
    return " ".join(" ".join(page.extract_text().split()) for page in pages)


async def signed(bidding: Bidding, form: Any, **more: Any) -> httpx2.Response:
    body = {
        "method": "electronic",
        "capacity": "Director",
        "renderingSha256": form["rendering"]["sha256"],
    }
    path = f"/bids/sbd-forms/{form['id']}"
    version = (await bidding.get(path)).json()["version"]
    return await bidding.post(f"{path}/sign", body | more, **{"If-Match": f'"{version}"'})


@pytest.mark.rule("BID-18")
async def test_the_forms_of_a_tender_are_added_once(bidding: Bidding) -> None:
    path = f"{bidding.path}/sbd-forms"

    made = await bidding.post(path, {"fromTender": True})
    again = await bidding.post(path, {"fromTender": True})
    unknown = await bidding.post(path, {"forms": [{"formCode": "SBD 99"}]})
    old = await bidding.post(path, {"forms": [{"formCode": "SBD 4", "edition": "2011"}]})
    listed = await bidding.get("/bids/form-catalogue?include=fields&formCode=SBD%204&regime=pfma")

    codes = [(one["formCode"], one["title"][:20]) for one in made.json()["created"]]
    assert codes[-1] == ("BUYER", "Integrity pact of th")
    assert [one for one, _ in codes[:-1]] == ["SBD 1", "SBD 3.1", "SBD 4", "SBD 6.1"]
    assert (len(again.json()["created"]), len(again.json()["existing"])) == (0, 5)
    assert [unknown.json()["code"], old.json()["code"]] == [
        *("bid-form-unknown", "bid-edition-not-in-force"),
    ]
    (definition,) = listed.json()["items"]
    assert {one["id"] for one in definition["fields"]} >= {"2.1", "2.2", "2.3"}


@pytest.mark.rule("BID-19")
async def test_a_form_is_proposed_by_reference_without_values(bidding: Bidding) -> None:
    form = (await bidding.forms("SBD 1"))["SBD 1"]

    shown = (await bidding.get(f"/bids/sbd-forms/{form['id']}")).json()

    name = shown["answers"]["s.name"]
    assert (name["value"], name["state"], name["source"]) == (NAME, "proposed", "reference")
    assert name["ref"]["id"] == f"{bidding.owner.organization_id}:legalName"
    assert all(NAME not in str(row.answers) for row in await bidding.rows(SbdForm))


@pytest.mark.rule("BID-19")
@pytest.mark.rule("BID-20")
async def test_a_disclosure_is_empty_and_contradictions_are_refused(bidding: Bidding) -> None:
    who = await offers.director(bidding.host, bidding.owner)
    await offers.flagged(bidding.host, bidding.owner, who, "publicServant")
    form = (await bidding.forms("SBD 4"))["SBD 4"]
    path = f"/bids/sbd-forms/{form['id']}"

    shown = (await bidding.get(path)).json()
    await bidding.answered(form, **DECLARED)
    refused = await bidding.move(form["id"], "complete")

    empty = [shown["answers"][key] for key in ("2.1", "2.2", "2.3")]
    assert {one["state"] for one in empty} == {"missing"}
    assert [one["value"] for one in empty] == [None] * 3
    assert (refused.status_code, refused.json()["code"]) == (422, "bid-declaration-contradiction")


@pytest.mark.rule("BID-24")
async def test_the_identity_number_is_in_the_print_alone(bidding: Bidding, host: Host) -> None:
    who = await offers.director(host, bidding.owner)
    rows = [{"directorId": str(who.id), "institution": "Department of Water"}]

    form = await completed(
        bidding, "SBD 4", **DECLARED | {"2__1": {"value": "yes"}, "2__1__1": {"directors": rows}}
    )

    text = await text_of(bidding, form)
    shown = await bidding.get(f"/bids/sbd-forms/{form['id']}")
    events = await factory.all_told(host, bidding.owner.organization_id)
    disclosed = await rows_of(host, "organization", Disclosure, bidding.owner)
    stored = await dump(host, bidding.owner.organization_id)
    canaries = sum(ID_NUMBER in str(one) for one in (shown.text, stored, *events))
    print(f"id_canaries={canaries} disclosures={len(disclosed)}")
    assert f"Nomsa Dube {ID_NUMBER} Department of Water" in text
    assert (canaries, len(disclosed)) == (0, 1)


@pytest.mark.rule("BID-20")
@pytest.mark.rule("BID-26")
@pytest.mark.usefixtures("proofs")
async def test_the_total_is_the_same_in_both_forms(bidding: Bidding) -> None:
    await bidding.priced()

    first = await completed(
        bidding,
        "SBD 1",
        s__accredited_representative={"value": "no"},
        s__foreign_supplier={"value": "no"},
        b__terms_read={"accept": True},
        s__postal_address={"value": "PO Box 1"},
        s__csd_number={"confirm": True},
    )
    third = await completed(bidding, "SBD 3.1", **PRICED)

    texts = [await text_of(bidding, one) for one in (first, third)]
    print(f"sbd1={'494 041.60' in texts[0]} sbd31={'494 041.60' in texts[1]}")
    assert all("R 494 041.60" in text for text in texts)
    assert NAME in texts[0]


@pytest.mark.rule("BID-25")
@pytest.mark.usefixtures("proofs")
async def test_a_changed_vat_number_outdates_a_signed_form(bidding: Bidding, host: Host) -> None:
    owner = bidding.owner
    form = await completed(
        bidding,
        "SBD 1",
        s__accredited_representative={"value": "no"},
        s__foreign_supplier={"value": "no"},
        b__terms_read={"accept": True},
        s__postal_address={"value": "PO Box 1"},
        s__csd_number={"confirm": True},
    )
    assert (await signed(bidding, form)).status_code == 200

    await facts.stated(host, owner.organization_id, owner.user_id, vatNumber="4234567892")
    await offers.react_to_fact(host, owner, "vatNumber")

    shown = (await bidding.get(f"/bids/sbd-forms/{form['id']}")).json()
    assert (shown["status"], shown["statusReason"]) == ("outdated", "fact_changed")


@pytest.mark.rule("BID-25")
async def test_a_changed_price_outdates_what_states_it(bidding: Bidding) -> None:
    made = await bidding.priced()
    form = await completed(bidding, "SBD 3.1", **PRICED)
    path = f"{bidding.path}/pricing-workbook"

    cash = await bidding.patch(path, {"cashTerms": {"deliveryDays": 9}}, made["version"])
    same = (await bidding.get(f"/bids/sbd-forms/{form['id']}")).json()
    item = {"items": {"1": {"unitRate": "387.46"}}}
    await bidding.patch(path, item, cash.json()["version"])
    later = (await bidding.get(f"/bids/sbd-forms/{form['id']}")).json()

    assert (same["status"], later["status"]) == ("completed", "outdated")


@pytest.mark.rule("BID-21")
async def test_only_authority_signs_and_only_this_print(bidding: Bidding, host: Host) -> None:
    await bidding.priced()
    form = await completed(bidding, "SBD 4", **DECLARED)
    yesterday = local_day(bidding.work().now) - timedelta(days=1)
    path = f"/bids/sbd-forms/{form['id']}/sign"
    body = {
        "method": "electronic",
        "capacity": "Director",
        "renderingSha256": form["rendering"]["sha256"],
    }
    match = {"If-Match": f'"{form["version"]}"'}
    ended, low = [await bidding.colleague("approver") for _ in range(2)]
    await offers.signatory(host, ended.organization_id, ended.user_id, valid_to=str(yesterday))
    limit = {"amount": "494041.59", "currency": "ZAR"}
    await offers.signatory(host, low.organization_id, low.user_id, limit=limit)

    refused = [await bidding.post(path, body, who, **match) for who in (ended, low)]
    moved = await bidding.post(path, body | {"renderingSha256": "0" * 64}, **match)
    done = await bidding.post(path, body, **match)

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (403, "bid-signing-authority")
    ] * 2
    assert (moved.status_code, moved.json()["code"]) == (409, "bid-rendering-changed")
    assert (done.status_code, done.json()["status"]) == (200, "signed")
    (signature,) = await bidding.rows(Signature)
    assert signature.payload_sha256 == done.json()["signatures"][0]["payloadSha256"]


@pytest.mark.rule("BID-21")
async def test_another_person_verifies_and_reopening_voids(bidding: Bidding) -> None:
    form = await completed(bidding, "SBD 4", **DECLARED)
    await signed(bidding, form)
    other = await bidding.colleague("approver")
    path = f"/bids/sbd-forms/{form['id']}"
    version = (await bidding.get(path)).json()["version"]

    same = await bidding.patch(path, {"move": "verify"}, version)
    done = await bidding.patch(path, {"move": "verify"}, version, other)
    reopened = await bidding.move(form["id"], "reopen")

    assert (same.status_code, same.json()["code"]) == (403, "same-person")
    assert (done.status_code, done.json()["status"]) == (200, "verified")
    assert reopened.json()["status"] == "in_progress"
    assert reopened.json()["signatures"][0]["voidReason"] == "reopened"


@pytest.mark.rule("BID-22")
async def test_ink_needs_a_clean_scan_of_as_many_pages(bidding: Bidding, host: Host) -> None:
    terms = offers.TERMS | {"submission": offers.TERMS["submission"] | {"eSignature": "refused"}}
    bidding.workspace = await offers.workspace(host, bidding.owner, terms=terms)
    form = await completed(bidding, "SBD 4", **DECLARED)
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    pages = form["rendering"]["pages"]
    short = await offers.clean_file(*here, bytes_=pdf(pages=pages + 1))
    scan = await offers.clean_file(*here, bytes_=pdf(pages=pages))

    electronic = await signed(bidding, form)
    none = await signed(bidding, form, method="wet_ink")
    wrong = await signed(bidding, form, method="wet_ink", fileId=str(short.id))
    done = await signed(bidding, form, method="wet_ink", fileId=str(scan.id))

    assert electronic.json()["code"] == "bid-esignature-refused"
    assert [none.json()["rule"], wrong.json()["rule"]] == ["BID-22", "BID-22"]
    assert done.json()["signatures"][0]["fileId"] == str(scan.id)


@pytest.mark.rule("BID-18")
async def test_a_buyers_own_form_is_a_file(bidding: Bidding, host: Host) -> None:
    body = {"forms": [{"formCode": "BUYER", "title": "Integrity pact"}]}
    made = (await bidding.post(f"{bidding.path}/sbd-forms", body)).json()["created"][0]
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    file = await offers.clean_file(*here)

    bare = await bidding.move(made["id"], "complete")
    done = await bidding.move(made["id"], "complete", fileId=str(file.id))
    sealed = await signed(bidding, done.json())

    assert bare.json()["code"] == "bid-form-incomplete"
    assert done.json()["rendering"]["sha256"] == file.sha256
    assert sealed.json()["status"] == "signed"


@pytest.mark.rule("BID-4")
async def test_a_pricing_schedule_is_for_those_with_prices(bidding: Bidding) -> None:
    await bidding.priced()
    form = await completed(bidding, "SBD 3.1", **PRICED)
    blind = await bidding.colleague("bid_manager", price=False)

    answers = [
        await bidding.get(path, blind)
        for path in (
            f"/bids/sbd-forms/{form['id']}",
            f"/bids/files/{form['rendering']['fileId']}",
            f"/bids/files/{form['rendering']['fileId']}/content",
        )
    ]

    assert [one.status_code for one in answers] == [403] * 3


async def test_a_file_of_another_bid_is_not_taken(bidding: Bidding, host: Host) -> None:
    other = await offers.workspace(host, bidding.owner)
    file = await offers.clean_file(host, bidding.owner.organization_id, other.id)
    body = {"forms": [{"formCode": "BUYER", "title": f"Pact {uuid4().hex}"}]}
    made = (await bidding.post(f"{bidding.path}/sbd-forms", body)).json()["created"][0]

    answer = await bidding.move(made["id"], "complete", fileId=str(file.id))

    assert answer.status_code == 404
