"""What other domains may ask of documents and proofs."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.factories import compliance_filed
from tests.factories.compliance_documents import Office
from tests.factories.notification_requests import with_ports
from tests.planting import plant
from thenga.domains.compliance import public
from thenga.domains.compliance.provider import LocalAttestations, LocalDocuments, LocalEvidence
from thenga.domains.compliance.services.documents import classes
from thenga.kernel.errors import Forbidden
from thenga.kernel.values.calendar import local_day

PIN = "4QX7P2"


async def _stated(office: Office, user_id: UUID | None) -> list[public.Attestation]:
    """What the form of a bid may say of the taxes, to a person or to nobody."""
    return await LocalAttestations(with_ports(office.host)).describe(
        organization_id=office.organization_id,
        codes=["tax_compliance"],
        purpose="bid_form",
        on_behalf_of=user_id,
    )


@pytest.mark.rule("CMP-48")
async def test_number_is_stated_to_readers_of_its_document(office: Office) -> None:
    reader, bringer, other = [
        await office.member(role) for role in ("bid_manager", "contributor", "contributor")
    ]
    here = (office.host, office.organization_id, "tax_compliance", "confidential")
    await compliance_filed.proven(*here, number=PIN, brought_by=bringer.user_id)

    told = {
        who: await _stated(office, user_id)
        for who, user_id in (
            ("reader", reader.user_id),
            ("bringer", bringer.user_id),
            ("other", other.user_id),
            ("nobody", None),
        )
    }

    assert [one.number for one in told["reader"] + told["bringer"]] == [PIN, PIN]
    hidden = [public.Attestation(code="tax_compliance", state="met")]
    assert told["other"] == told["nobody"] == hidden


async def test_planted_number_for_everyone_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await office.member("contributor")
    here = (office.host, office.organization_id, "tax_compliance", "confidential")
    await compliance_filed.proven(*here, number=PIN)

    async def everyone(*_: object) -> bool:
        return True

    plant(monkeypatch, classes, "person_may_read", everyone)

    assert [one.number for one in await _stated(office, other.user_id)] == [PIN]


async def test_a_sealed_pin_is_told_for_the_form_of_a_bid_only(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")
    host, mine = with_ports(office.host), office.organization_id
    last = local_day(office.host.now()) + timedelta(days=40)
    document = await office.clean(
        officer, "tcs_pin_letter", expiresOn=last.isoformat(), attributes={"pin": PIN}
    )
    made = (await office.link(officer, document, await office.requirement("tax_compliance"))).json()
    asked = (await office.ask(officer, made["id"])).json()
    await office.decide(
        approver.acting, asked["id"], outcome="verified", evidenceSha256=made["sha256"]
    )

    attesting, codes = LocalAttestations(host), ["tax_compliance", "bbbee_status"]
    named: dict[str, Any] = {
        "organization_id": mine,
        "codes": codes,
        "on_behalf_of": officer.user_id,
    }
    bid = await attesting.describe(**named, purpose="bid_form")
    fund = await attesting.describe(**named, purpose="funding_application")
    cited = public.EvidenceRef(evidence_id=made["id"], proof_version=1)
    moved = public.EvidenceRef(evidence_id=made["id"], proof_version=7)
    unknown = public.EvidenceRef(evidence_id=uuid4())
    resolved = await LocalEvidence(host).resolve(organization_id=mine, refs=[cited, moved, unknown])

    assert [(one.state, one.number) for one in bid] == [("met", PIN), ("missing", None)]
    assert [one.number for one in fund] == [None, None]
    assert [one.state for one in resolved] == ["live", "moved", "unknown"]
    assert resolved[0].sha256 == made["sha256"]
    assert PIN not in str(document)


async def test_a_document_is_described_and_opened_for_a_person(office: Office) -> None:
    officer, stranger = await office.member(), uuid4()
    host, mine = with_ports(office.host), office.organization_id
    document = await office.clean(officer)
    asking = LocalDocuments(host)
    refs = [
        public.DocumentRef(document_id=document["id"]),
        public.DocumentRef(document_id=uuid4()),
    ]

    cards = await asking.describe(organization_id=mine, refs=refs)
    named = {"organization_id": mine, "document_id": refs[0].document_id, "version": None}
    opened = await asking.open(
        **named, purpose="submission pack", on_behalf_of=officer.user_id, key="1"
    )
    with pytest.raises(Forbidden):
        await asking.open(**named, purpose="submission pack", on_behalf_of=stranger, key="2")

    assert [one.state for one in cards] == ["live", "unknown"]
    assert cards[0].sha256 == opened.sha256 == document["versions"][0]["sha256"]
    assert str(mine) not in opened.ticket
