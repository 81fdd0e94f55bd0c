"""Evidence: one proof for many requirements, and no gap on early renewal."""

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_documents import (
    DOCUMENTS,
    EVIDENCE,
    VERIFICATIONS,
    Office,
    pdf,
)
from tests.planting import plant
from thenga.domains.compliance.services import evidence, requirements
from thenga.domains.compliance.services.evidence import Fit, Need, ProofFacts, fit_of
from thenga.domains.compliance.services.evidence import fit as fit_rules
from thenga.kernel.files.scanner import EICAR
from thenga.kernel.values.calendar import local_day


async def fits_of_one_report(office: Office) -> list[str]:
    """The fit of a report of 30 days for the catalogue and for tenders of 90 and 7 days."""
    officer = await office.member()
    issued = local_day(office.host.now()) - timedelta(days=30)
    document = await office.clean(officer, issuedOn=issued.isoformat())
    needs = [
        await office.requirement(),
        await office.requirement(tender=True, maxAgeDays=90),
        await office.requirement(tender=True, maxAgeDays=7),
    ]

    made = await office.link(officer, document, needs[0])
    again = await office.link(officer, document, needs[1])
    unknown = await office.link(officer, await office.clean(officer), uuid4())
    path = f"{EVIDENCE}/{made.json()['id']}"
    body = {"addRequirementIds": [str(one) for one in needs[1:]]}
    changed = await office.api.patch(path, json=body, headers=officer.acting)

    fits = {one["requirementId"]: one for one in changed.json()["links"]}
    shown = [fits[str(one)]["fit"] for one in needs]
    print(f"fits={','.join(shown)}")
    assert (made.status_code, made.json()["status"]) == (201, "submitted")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"]["id"] == made.json()["id"]
    assert (unknown.status_code, unknown.json()["code"]) == (422, "compliance-unlinkable")
    assert len(await office.events("EvidenceLinked")) == 1
    return [*shown, *fits[str(needs[2])]["reasons"]]


@pytest.mark.rule("CMP-15")
async def test_one_report_fits_each_requirement_by_its_age(office: Office) -> None:
    assert await fits_of_one_report(office) == ["fits", "fits", "does_not_fit", "too_old"]


async def test_a_planted_paper_that_never_gets_old_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, fit_rules, "_age", lambda *_: [])

    assert await fits_of_one_report(office) == ["fits", "fits", "fits"]


def _proof(code: str, **attributes: Any) -> ProofFacts:
    return ProofFacts(code=code, attributes=attributes)


@pytest.mark.rule("CMP-15")
@pytest.mark.parametrize(
    ("proof", "codes", "params", "fit", "reasons"),
    [
        (_proof("csd_report"), {"bank_letter"}, {}, Fit.DOES_NOT_FIT, ("wrong_type",)),
        (
            _proof("bbbee_affidavit", annualTurnover=50_000_001),
            {"bbbee_affidavit"},
            {"affidavitMaxTurnover": 50_000_000},
            Fit.DOES_NOT_FIT,
            ("turnover_above_limit",),
        ),
        (
            _proof("bbbee_certificate", level=3),
            {"bbbee_certificate"},
            {"maxBbbeeLevel": 2},
            Fit.DOES_NOT_FIT,
            ("level_too_low",),
        ),
        (
            _proof("cidb_certificate", designations=["6CE", "4GB"]),
            {"cidb_certificate"},
            {"cidb": {"class": "CE", "minGrade": 7}},
            Fit.DOES_NOT_FIT,
            ("grade_too_low",),
        ),
        (
            _proof("cidb_certificate", designations=["6CE", "4GB"]),
            {"cidb_certificate"},
            {"cidb": {"class": "CE", "minGrade": 6}},
            Fit.FITS,
            (),
        ),
        (_proof("supporting_document"), set(), {}, Fit.NEEDS_PERSON, ("person_assesses",)),
        (
            _proof("csd_report"),
            {"csd_report"},
            {"maxAgeDays": 7},
            Fit.NEEDS_PERSON,
            ("undated",),
        ),
    ],
)
def test_a_proof_fits_by_what_it_says(
    proof: ProofFacts, codes: set[str], params: Any, fit: Fit, reasons: tuple[str, ...]
) -> None:
    found = fit_of(proof, Need(codes=frozenset(codes), params=params), date(2026, 11, 16))

    assert (found.fit, found.reasons) == (fit, reasons)


@pytest.mark.rule("CMP-13", "CMP-16", "CMP-21")
async def test_early_renewal_leaves_the_old_proof_counting(office: Office) -> None:
    officer, approver = await office.member(), await office.member("approver")
    need = await office.requirement("tax_compliance")
    last = local_day(office.host.now()) + timedelta(days=45)
    document = await office.clean(officer, "tcs_pin_letter", expiresOn=last.isoformat())
    old = (await office.link(officer, document, need)).json()
    asked = (await office.ask(officer, old["id"])).json()
    await office.decide(
        approver.acting, asked["id"], outcome="verified", evidenceSha256=old["sha256"]
    )

    await office.renew(officer, document, pdf() + EICAR)
    await office.settle()
    after_bad = await office.get(officer, document["id"])
    await office.renew(officer, after_bad, pdf(mark="renewed"))
    later = last + timedelta(days=365)
    await office.patch(officer, document["id"], expiresOn=later.isoformat())
    await office.settle()
    kept = await office.evidence(officer, old["id"])
    linked = (await office.events("EvidenceLinked"))[-1]
    new = await office.evidence(officer, linked["evidenceId"])
    again = (await office.ask(officer, new["id"])).json()
    decided = await office.decide(
        approver.acting, again["id"], outcome="verified", evidenceSha256=new["sha256"]
    )
    replaced = await office.evidence(officer, old["id"])
    fact = await office.patch(
        officer, document["id"], expiresOn=(later - timedelta(days=1)).isoformat()
    )
    reopened = await office.evidence(officer, new["id"])

    assert after_bad["currentVersion"] == 1
    assert (kept["status"], kept["validUntil"]) == ("verified", last.isoformat())
    assert (new["status"], new["successorOf"], new["documentVersion"]) == (
        "submitted",
        old["id"],
        3,
    )
    assert (new["validUntil"], new["chain"]) == (later.isoformat(), [old["id"]])
    assert decided.status_code == 200
    assert (replaced["status"], replaced["staleReason"]) == ("stale", "replaced")
    assert fact.status_code == 200
    assert reopened["status"] == "submitted"


@pytest.mark.rule("CMP-21")
async def test_evidence_goes_stale_after_its_last_day(office: Office, clock: Time) -> None:
    officer, approver = await office.member(), await office.member("approver")
    need = await office.requirement("tax_compliance")
    last = local_day(office.host.now()) + timedelta(days=10)
    document = await office.clean(officer, "tcs_pin_letter", expiresOn=last.isoformat())
    made = (await office.link(officer, document, need)).json()
    asked = (await office.ask(officer, made["id"])).json()
    await office.decide(
        approver.acting, asked["id"], outcome="verified", evidenceSha256=made["sha256"]
    )

    clock.move(timedelta(days=11))
    await office.settle()

    officer = await office.member()
    shown = await office.evidence(officer, made["id"])
    assert (shown["status"], shown["staleReason"]) == ("stale", "expired")


@pytest.mark.rule("CMP-21")
async def test_a_revoked_certificate_proves_nothing(office: Office) -> None:
    officer, certificate = await office.member(), uuid4()
    need = await office.requirement(None)
    work = office.work()
    await evidence.record_certificate(
        work, certificate_id=certificate, fields={"valid_until": None}, sequence=1
    )
    await work.finish()
    body = {
        "organizationId": str(office.organization_id),
        "reference": {"domain": "learning", "type": "certificate", "id": str(certificate)},
        "requirementIds": [str(need)],
    }
    made = await office.api.post(EVIDENCE, json=body, headers=officer.acting)
    approver = await office.member("approver")
    asked = (await office.ask(officer, made.json()["id"])).json()
    await office.decide(
        approver.acting, asked["id"], outcome="verified", evidenceSha256=made.json()["sha256"]
    )

    work = office.work()
    await evidence.revoke_certificate(work, certificate, sequence=2)
    await work.finish()

    shown = await office.evidence(officer, made.json()["id"])
    assert made.json()["links"][0]["fit"] == "needs_person"
    assert (shown["status"], shown["staleReason"]) == ("stale", "certificate_revoked")


@pytest.mark.rule("CMP-1")
async def test_another_organization_in_a_body_is_not_there(office: Office) -> None:
    owner, stranger = (
        await office.member("owner"),
        await people.member(office.host, uuid4(), role="owner"),
    )
    document = await office.clean(owner)
    made = (await office.link(owner, document, await office.requirement(tender=True))).json()
    bodies: dict[str, dict[str, Any]] = {
        "/compliance/requirements": {"title": "A visit"},
        DOCUMENTS: {"documentTypeCode": "csd_report"},
        EVIDENCE: {"documentId": document["id"], "requirementIds": [str(uuid4())]},
        VERIFICATIONS: {"evidenceId": made["id"], "method": "manual"},
    }
    for path, body in bodies.items():
        told = []
        for other in (stranger.organization_id, uuid4()):
            named = body | {"organizationId": str(other)}
            answer = await office.api.post(path, json=named, headers=owner.acting)
            varying = ("requestId", "instance")
            said = {n: v for n, v in answer.json().items() if n not in varying}
            told.append((answer.status_code, said))
        assert told[0][0] == 404, path
        assert told[0] == told[1]


async def declared_answers(office: Office, code: str, *answered: str) -> list[Any]:
    """The answer to a declared statement that is linked to the bidder's disclosure."""
    officer = await office.member()
    body = {
        "organizationId": str(office.organization_id),
        "declaration": {"statementCode": code, "answers": dict.fromkeys(answered, False)},
        "requirementIds": [str(await office.requirement("bidder_disclosure", tender=True))],
    }
    answer = await office.api.post(EVIDENCE, json=body, headers=officer.acting)
    shown = answer.json()
    return [answer.status_code, shown.get("code") or shown["links"][0]["fit"], shown]


@pytest.mark.rule("CMP-15")
async def test_a_declaration_answers_each_question_of_its_statement(office: Office) -> None:
    some = await declared_answers(office, "bidder_disclosure", "2.1", "2.2")
    more = await declared_answers(office, "bidder_disclosure", "2.1", "2.2", "2.3", "2.4")
    unknown = await declared_answers(office, "no_conflict", "1")
    whole = await declared_answers(office, "bidder_disclosure", "2.1", "2.2", "2.3")

    assert some[:2] == more[:2] == unknown[:2] == [422, "compliance-unlinkable"]
    assert list(some[2]["questions"]) == ["2.1", "2.2", "2.3"]
    assert whole[:2] == [201, "fits"]


async def test_a_planted_catalogue_without_questions_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, requirements, "statement_questions", lambda _: None)

    some = await declared_answers(office, "bidder_disclosure", "2.1")

    assert some[:2] == [201, "fits"]
