"""Renewing early costs nothing: readiness never falls while a new version is on its way."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tests.factories.compliance_documents import Office, pdf
from tests.factories.compliance_readiness import Prover
from tests.factories.identity import Member
from thenga.domains.compliance.tables import Evidence

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


async def score(office: Office, who: Member) -> Any:
    path = f"/compliance/readiness/{office.organization_id}"
    return (await office.api.get(path, headers=who.acting)).json()["score"]


async def verify(office: Office, by: Member, who: Member, evidence_id: str) -> None:
    seen = await office.evidence(who, evidence_id)
    asked = await office.ask(who, evidence_id)
    assert asked.status_code == 201, asked.text
    decided = await office.decide(
        by.acting, asked.json()["id"], outcome="verified", evidenceSha256=seen["sha256"]
    )
    assert decided.status_code == 200, decided.text


@pytest.mark.rule("CMP-13")
async def test_the_score_never_dips_while_a_paper_is_renewed(office: Office) -> None:
    office.clock.set(NOW)
    who, other = await office.member(), await office.member()
    prover = Prover(office.host, office.organization_id)
    needs = await prover.build(without="uif_compliance")
    days = {"issuedOn": "2026-01-05", "expiresOn": "2026-12-31"}
    paper = await office.clean(who, "uif_certificate", **days)
    linked = await office.link(who, paper, needs["uif_compliance"])
    await verify(office, other, who, linked.json()["id"])
    scores = [await score(office, who)]

    await office.renew(who, await office.get(who, paper["id"]), b"%PDF-1.4\n" + EICAR)
    scores.append(await score(office, who))
    await office.settle()
    scores.append(await score(office, who))

    await office.renew(who, await office.get(who, paper["id"]), pdf(mark="renewed"))
    scores.append(await score(office, who))
    await office.settle()
    scores.append(await score(office, who))
    await office.patch(who, paper["id"], issuedOn="2026-11-16", expiresOn="2027-12-31")
    scores.append(await score(office, who))
    (old, new) = await office.rows(Evidence, document_id=UUID(paper["id"]))
    await verify(office, other, who, str(new.id))
    scores.append(await score(office, who))

    (old, new) = await office.rows(Evidence, document_id=UUID(paper["id"]))
    print(f"min_score={min(scores)}")
    assert set(scores) == {"78.2"}
    assert (old.status, old.stale_reason, new.status) == ("stale", "replaced", "verified")
