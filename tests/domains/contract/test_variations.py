"""Variations over HTTP: two signatures over one hash, the limit of the law, no revival."""

import asyncio
from datetime import UTC, datetime

import pytest

from tests.domains.contract.deals import PROOF, Deal, Desk, zar


@pytest.mark.rule("CON-31")
async def test_a_variation_takes_effect_at_the_second_signature(desk: Desk) -> None:
    variation = await desk.approve("460000.00", kinds=["value", "time"], daysDelta=14)
    ours = (await desk.sign(variation, "supplier")).json()
    between = await desk.value()
    both = (await desk.sign(variation, "buyer")).json()

    after = await desk.value()
    (told,) = await desk.e.told("VariationExecuted")
    print(f"hash={ours['contentHash']} value={between} then {after} plan={both['planNumber']}")
    assert ours["contentHash"] == (
        "64c262761b343022e72438645a1c4ce528eb5a1b09c4ea7a4977a45afcfc848c"
    )
    assert (between, after) == ("4830000.00", "5290000.00")
    assert (both["status"], both["planNumber"]) == ("executed", 2)
    assert (both["valueBefore"], both["valueAfter"]) == (zar("4830000.00"), zar("5290000.00"))
    assert (both["endsBefore"], both["endsAfter"]) == ("2027-06-30", "2027-07-14")
    assert (told["cumulativePercent"], told["limitState"]) == ("9.52", "within")
    assert told["strength"] == "document"


@pytest.mark.rule("CON-31")
async def test_an_edit_after_the_first_signature_voids_it(desk: Desk) -> None:
    variation = await desk.approve("460000.00")
    await desk.sign(variation, "supplier")

    path = f"/contracts/variations/{variation['id']}"
    edited = (await desk.e.patch(path, {"title": "Rock excavation, ch 0+400"})).json()
    too_early = await desk.sign(variation, "buyer")

    assert (edited["status"], edited["contentHash"], edited["signatures"]) == ("draft", None, [])
    assert too_early.status_code == 409
    assert await desk.value() == "4830000.00"


@pytest.mark.rule("CON-32")
async def test_the_third_increase_passes_the_limit(desk: Desk) -> None:
    first, second = await desk.execute("460000.00"), await desk.execute("300000.00")
    third = await desk.approve("212000.00")
    await desk.sign(third, "supplier")
    refused = await desk.sign(third, "buyer")
    approval = {"domain": "compliance", "type": "document", "id": PROOF["evidenceRefs"][0]["id"]}
    approved = await desk.execute("212000.00", limitApprovalRef=approval)

    problem = refused.json()
    print(f"limit={problem['limit']['amount']} cumulative={problem['cumulative']['amount']}")
    assert (first.json()["limitState"], second.json()["limitState"]) == ("within", "within")
    assert (refused.status_code, problem["code"]) == (409, "contract-variation-limit")
    assert (problem["limit"], problem["cumulative"]) == (zar("966000.00"), zar("972000.00"))
    assert approved.json()["limitState"] == "exceeds"


@pytest.mark.rule("CON-33")
async def test_an_ended_contract_is_not_revived(desk: Desk) -> None:
    variation = await desk.approve("1000.00")
    await desk.sign(variation, "supplier")
    await desk.e.at(datetime(2027, 6, 30, 22, tzinfo=UTC))
    desk.filer = desk.e.owner

    refused = await desk.sign(variation, "buyer")

    assert (refused.status_code, refused.json()["code"]) == (409, "contract-ended")
    assert await desk.value() == "4830000.00"


@pytest.mark.rule("CON-32")
async def test_no_value_below_what_was_billed(desk: Desk) -> None:
    await desk.e.invoice(M2="1690500.00")
    changes = [
        {"key": key, "amountDelta": zar(f"-{amount}")}
        for key, amount in (
            ("M1", "966000.00"),
            ("M2", "860500.00"),
            ("M3", "1207500.00"),
            ("M4", "966000.00"),
        )
    ]
    refused = await desk.execute("-4000000.00", milestoneChanges=changes)

    assert (refused.status_code, refused.json()["code"]) == (409, "contract-value-below-billed")
    assert refused.json()["billed"] == zar("1690500.00")


@pytest.mark.rule("CON-31")
async def test_two_second_signatures_at_once_add_up(desk: Desk) -> None:
    pair = [await desk.approve("100000.00"), await desk.approve("50000.00")]
    for variation in pair:
        await desk.sign(variation, "supplier")

    answers = await asyncio.gather(*(desk.sign(one, "buyer") for one in pair))

    executed = await desk.e.told("VariationExecuted")
    plans = sorted(answer.json()["planNumber"] for answer in answers)
    final = await desk.value()
    lost = 0 if final == "4980000.00" else 1
    print(f"variations={len(executed)} lost_updates={lost}")
    assert [answer.status_code for answer in answers] == [200, 200]
    assert (len(executed), plans, final) == (2, [2, 3], "4980000.00")
    after = [
        (one["valueBefore"]["amount"], one["valueAfter"]["amount"])
        for one in (answer.json() for answer in answers)
    ]
    assert {before for before, _ in after} >= {"4830000.00"}


@pytest.mark.rule("CON-44")
async def test_the_author_does_not_file_the_buyers_decision(desk: Desk) -> None:
    variation = await desk.draft("1000.00")
    await desk.move(variation, "submit")
    path = f"/contracts/variations/{variation['id']}"

    own = await desk.e.patch(path, {"move": {"verb": "approve", "confirmation": PROOF}})
    bare = await desk.e.patch(path, {"move": {"verb": "approve"}}, who=desk.filer)

    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (bare.status_code, bare.json()["code"]) == (422, "contract-confirmation-missing")


@pytest.mark.rule("CON-31")
async def test_amounts_must_sum_to_the_value(e: Deal) -> None:
    body = {
        "title": "Unbalanced",
        "kinds": ["value"],
        "reasonCode": "error",
        "valueDelta": zar("100.00"),
        "milestoneChanges": [{"key": "M2", "amountDelta": zar("99.99")}],
    }

    refused = await e.post(f"/contracts/workspaces/{e.workspace_id}/variations", body)

    assert (refused.status_code, refused.json()["code"]) == (422, "contract-variation-unbalanced")
    assert (refused.json()["valueDelta"], refused.json()["sum"]) == (zar("100.00"), zar("99.99"))
