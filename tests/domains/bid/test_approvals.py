"""Approvals over HTTP: four eyes on one hash, bands by amount, and what voids them."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Silence
from tests.factories import bid as factory
from tests.factories.bid_offer import CASH
from tests.factories.bidding import Bidding
from tests.factories.identity import Member
from thenga.domains.bid.tables import Approval, ApprovalStatus
from thenga.domains.identity.public import Members


def price_of(net: str) -> dict[str, Any]:
    item = {"description": "Works", "kind": "lump_sum", "unitRate": net, "cost": "1.00"}
    return {"items": {"1": item}, "validityDays": 90}


async def asked(bidding: Bidding, workbook: Any, **more: Any) -> httpx2.Response:
    body = {"kind": "price", "subjectId": workbook["id"], **more}
    return await bidding.post(f"{bidding.path}/approvals", body)


async def decided(
    bidding: Bidding, approval: Any, who: Member, decision: str = "approve", **more: Any
) -> httpx2.Response:
    body = {"decision": decision, "subjectSha256": approval["subject"]["sha256"], **more}
    return await bidding.post(f"/bids/approvals/{approval['id']}/decide", body, who)


async def statuses(bidding: Bidding, approval: Any) -> tuple[str, str]:
    found = (await bidding.get(f"/bids/approvals/{approval['id']}")).json()
    workbook = (await bidding.get(f"{bidding.path}/pricing-workbook")).json()
    return found["status"], workbook["status"]


@pytest.mark.rule("BID-36")
@pytest.mark.rule("BID-37")
async def test_the_approver_sees_the_cash_gap_and_decides_a_hash(bidding: Bidding) -> None:
    first, other = [await bidding.colleague("approver") for _ in range(2)]
    workbook = await bidding.priced(CASH)
    approval = (await asked(bidding, workbook)).json()
    await decided(bidding, approval, first)

    own = await decided(bidding, approval, bidding.owner)
    body = {"decision": "approve", "subjectSha256": "0" * 64}
    old = await bidding.post(f"/bids/approvals/{approval['id']}/decide", body, other)
    done = await decided(bidding, approval, other)
    again = await decided(bidding, approval, other)

    cash = approval["shown"]["price"]["cashPicture"]
    days = {one["paidAfterDays"]: one["days"] for one in cash["gaps"]}
    print(f"need={cash['need']['amount']} days={'/'.join(map(str, days.values()))}")
    assert cash["need"]["amount"] == "546000.00"
    assert days == {30: 55, 60: 85, 90: 115}
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (old.status_code, old.json().get("code")) == (409, "bid-subject-changed")
    assert (done.status_code, done.json()["status"]) == (200, "approved")
    assert again.json()["decisions"] == done.json()["decisions"]
    assert done.json()["decisions"][0]["shownSha256"] == approval["shownSha256"]
    assert await statuses(bidding, approval) == ("approved", "approved")
    told = await factory.told(bidding.host, bidding.owner.organization_id, "PricingApproved")
    assert len(told) == 1


@pytest.mark.rule("BID-33")
@pytest.mark.rule("BID-39")
async def test_a_cent_more_voids_the_approval_for_good(bidding: Bidding) -> None:
    workbook = await bidding.priced(CASH)
    approvers = [await bidding.colleague("approver") for _ in range(2)]
    approval = (await asked(bidding, workbook)).json()
    for who in approvers:
        await decided(bidding, approval, who)
    path = f"{bidding.path}/pricing-workbook"
    held = (await bidding.get(path)).json()

    dearer = {"items": {"1": {"unitRate": "1000000.01"}}}
    first = await bidding.patch(path, dearer, held["version"])
    back = {"items": {"1": {"unitRate": "1000000.00"}}}
    second = await bidding.patch(path, back, first.json()["version"])

    told = await factory.told(bidding.host, bidding.owner.organization_id, "ApprovalVoided")
    assert (first.json()["status"], second.json()["status"]) == ("draft", "draft")
    assert second.json()["contentSha256"] == approval["subject"]["sha256"]
    assert await statuses(bidding, approval) == ("voided", "draft")
    assert [one["data"]["cause"] for one in told] == ["price_changed"]


@pytest.mark.rule("BID-38")
@pytest.mark.parametrize(
    ("net", "count", "high"),
    [
        ("869565.22", 1, False),  # 1 000 000.00 with VAT
        ("869565.23", 2, False),
        ("8695652.17", 2, False),  # 10 000 000.00
        ("8695652.18", 2, True),
    ],
)
async def test_the_total_decides_how_many_approve(
    bidding: Bidding, net: str, count: int, high: bool
) -> None:
    await bidding.colleague("approver")

    approval = (await asked(bidding, await bidding.priced(price_of(net)))).json()

    assert approval["needed"] == {"count": count, "high": high}


@pytest.mark.rule("BID-38")
async def test_two_plain_approvals_are_not_enough_in_the_high_band(bidding: Bidding) -> None:
    plain = [await bidding.colleague("approver") for _ in range(2)]
    chief = await bidding.colleague("owner")
    workbook = await bidding.priced(price_of("8695652.18"))
    approval = (await asked(bidding, workbook)).json()

    yes = [(await decided(bidding, approval, who)).json()["status"] for who in plain]
    last = (await decided(bidding, approval, chief)).json()["status"]

    assert (yes, last) == (["requested", "requested"], "approved")


@pytest.mark.rule("BID-38")
async def test_one_reject_ends_it_and_needs_a_reason(bidding: Bidding) -> None:
    other = await bidding.colleague("approver")
    workbook = await bidding.priced(CASH)
    approval = (await asked(bidding, workbook)).json()

    bare = await decided(bidding, approval, other, "reject")
    done = await decided(bidding, approval, other, "reject", comment="Too dear.")
    late = await decided(bidding, approval, other)

    assert (bare.status_code, bare.json()["rule"]) == (422, "BID-37")
    assert (done.json()["status"], done.json()["statusReason"]) == ("rejected", "Too dear.")
    assert (late.status_code, late.json()["code"]) == (409, "invalid-transition")
    assert await statuses(bidding, approval) == ("rejected", "draft")


@pytest.mark.rule("BID-37")
async def test_who_cannot_approve_is_refused_when_asked(bidding: Bidding) -> None:
    blind = await bidding.colleague("approver", price=False)
    viewer = await bidding.colleague("viewer")
    workbook = await bidding.priced(CASH)

    answers = [
        await asked(bidding, workbook, approverUserIds=[str(one.user_id)])
        for one in (blind, viewer, bidding.owner)
    ]

    assert {one.json()["code"] for one in answers} == {"bid-approver-not-possible"}


@pytest.mark.rule("BID-32")
async def test_findings_block_the_request(bidding: Bidding) -> None:
    await bidding.colleague("approver")
    item = {"1": {"description": "x", "quantity": "3"}}

    answer = await asked(bidding, await bidding.priced({"items": item, "validityDays": 90}))

    assert (answer.status_code, answer.json()["code"]) == (409, "bid-findings-open")


@pytest.mark.rule("BID-40")
async def test_a_single_member_is_waived_and_silence_waives_nothing(
    bidding: Bidding, silence: Silence
) -> None:
    workbook = await bidding.priced(CASH)

    alone = await asked(bidding, workbook)
    silence(Members)
    unknown = await asked(bidding, workbook)

    assert (alone.status_code, alone.json()["waiver"]) == (200, {"reason": "single_member"})
    assert unknown.status_code == 201
    assert len(await bidding.rows(Approval)) == 1


@pytest.mark.rule("BID-39")
async def test_a_request_expires_once_after_five_working_days(bidding: Bidding) -> None:
    await bidding.colleague("approver")
    workbook = await bidding.priced(CASH)
    approval = (await asked(bidding, workbook)).json()
    ends = (await bidding.rows(Approval))[0].expires_at

    await bidding.until(ends + timedelta(days=1))

    (row,) = await bidding.rows(Approval)
    told = await factory.told(bidding.host, bidding.owner.organization_id, "ApprovalVoided")
    assert row.status is ApprovalStatus.EXPIRED
    assert [one["data"]["approvalId"] for one in told] == [approval["id"]]


async def test_the_requester_cancels(bidding: Bidding) -> None:
    other = await bidding.colleague("approver")
    approval = (await asked(bidding, await bidding.priced(CASH))).json()

    refused = await decided(bidding, approval, other, "cancel")
    done = await decided(bidding, approval, bidding.owner, "cancel")

    assert (refused.status_code, done.json()["status"]) == (403, "cancelled")
