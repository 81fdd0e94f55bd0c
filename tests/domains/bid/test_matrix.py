"""The requirement matrix: states, coverage and evidence that Compliance answers for."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Silence
from tests.factories import bid as factory
from tests.factories.identity import Member
from thenga.domains.bid.services.proposals.coverage import (
    Answer,
    AtClosing,
    at_closing,
    coverage,
    state_of,
)
from thenga.domains.bid.tables import Workspace
from thenga.domains.compliance import public as compliance
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host

WEIGHTS = {"mandatory": 3, "scored": 2, "recommended": 1}
CLOSING = date(2027, 4, 1)


@pytest.mark.rule("BID-17")
def test_coverage_is_weighted_by_kind() -> None:
    rows = [
        *[("mandatory", "covered")] * 10,
        ("mandatory", "partly"),
        ("mandatory", "gap"),
        *[("scored", "covered")] * 6,
        *[("scored", "stale")] * 2,
        *[("recommended", "covered")] * 2,
        *[("recommended", "gap")] * 3,
        *[("informational", "gap")] * 4,
        ("mandatory", "waived"),
    ]

    made = coverage(rows, WEIGHTS)  # type: ignore[arg-type]  # states as plain text
    nothing = coverage([("informational", "gap")], WEIGHTS)

    print(f"coverage={made.overall} mandatory={made.mandatory}")
    assert (made.overall, made.mandatory) == (Decimal("79.8"), Decimal("83.3"))
    assert (nothing.overall, nothing.mandatory) == (None, None)


@pytest.mark.rule("BID-16")
@pytest.mark.parametrize(
    ("state", "until", "worth"),
    [
        ("live", None, "valid"),
        ("live", CLOSING, "valid"),
        ("live", CLOSING - timedelta(days=1), "expired"),
        ("stale", None, "unknown"),
        ("unknown", None, "unknown"),
        ("erased", None, "missing"),
    ],
)
def test_evidence_is_worth_what_it_is_on_the_closing_date(
    state: str, until: date | None, worth: str
) -> None:
    assert at_closing(state, until, CLOSING) == worth


@pytest.mark.rule("BID-16")
def test_a_row_is_covered_only_with_a_place_and_proof() -> None:
    def state(*evidence: AtClosing, **given: Any) -> str:
        usual: dict[str, Any] = {
            "response": "comply",
            "is_current": True,
            "is_removed": False,
            "has_place": True,
            "has_justification": False,
            "needs_evidence": True,
        }
        return state_of(Answer(**usual | given, evidence=evidence))

    assert state("valid") == "covered"
    assert (state(), state("unknown"), state("valid", "expired")) == ("partly",) * 3
    assert (state("valid", has_place=False), state(needs_evidence=False)) == ("partly", "covered")
    assert (state(is_current=False), state(is_removed=True)) == ("stale", "waived")
    nothing = state(response="none", has_place=False)
    assert (nothing, state(response="not_applicable", has_justification=True)) == ("gap", "waived")


def play_compliance(bound: Host, patch: pytest.MonkeyPatch, until: date | None) -> None:
    """Compliance that knows every evidence, valid until that day."""

    async def ask(shape: Any, arguments: Any) -> object:
        return [
            compliance.ResolvedEvidence(ref=one, state="live", valid_until=until)
            for one in arguments["refs"]
        ]

    patch.setitem(bound.bindings._bound, compliance.Evidence, stand_in(compliance.Evidence, ask))


@pytest.mark.rule("BID-16")
async def test_silence_of_compliance_is_unknown_and_never_more(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    bound: Host,
    monkeypatch: pytest.MonkeyPatch,
    silence: Silence,
) -> None:
    tender = await factory.tender(host)
    asked = await factory.tenders.requirement(
        host, tender, {"kind": "document", "params": {}}, evidence_kinds=["document"]
    )
    free = await factory.tenders.requirement(host, tender, {"kind": "free"}, title="Free")
    made = await factory.workspace(host, owner.organization_id, owner.user_id, of_tender=tender)
    _, section = await factory.draft(host, owner.organization_id, made.id)
    path = f"/bids/workspaces/{made.id}/compliance-matrix"
    answer = {
        "response": "comply",
        "sectionIds": [str(section.id)],
        "evidenceIds": [str(uuid4())],
    }
    play_compliance(bound, monkeypatch, None)

    first = await api.get(path, headers=owner.acting)
    headers = owner.acting | {"If-Match": first.headers["etag"]}
    body = {"rows": {str(asked.id): answer}}
    answered = await api.patch(path, json=body, headers=headers)
    stale = await api.patch(path, json=body, headers=headers)
    short = {"rows": {str(free.id): {"response": "not_applicable", "justification": "No."}}}
    headers = owner.acting | {"If-Match": answered.headers["etag"]}
    unjustified = await api.patch(path, json=short, headers=headers)
    foreign = {"rows": {str(asked.id): {"formIds": [str(uuid4())]}}}
    stranger = await api.patch(path, json=foreign, headers=headers)
    silence(compliance.Evidence)
    silent = (await api.get(path, headers=owner.acting)).json()

    assert answered.status_code == 200, answered.text
    shown = {one["requirement"]["id"]: one for one in answered.json()["rows"]}
    assert (shown[str(asked.id)]["state"], shown[str(free.id)]["state"]) == ("covered", "gap")
    assert answered.json()["coverage"] == {"overall": "50.0", "mandatory": "50.0"}
    assert (stale.status_code, stale.json()["currentVersion"]) == (412, 2)
    assert (unjustified.status_code, unjustified.json()["code"]) == (
        422,
        "bid-justification-required",
    )
    assert stranger.status_code == 422
    (row,) = [one for one in silent["rows"] if one["requirement"]["id"] == str(asked.id)]
    assert (row["state"], row["evidence"][0]["atClosing"]) == ("partly", "unknown")
    assert Decimal(silent["coverage"]["overall"]) <= Decimal("50.0")
    told = await factory.told(host, owner.organization_id, "MatrixChanged")
    assert told[-1]["data"]["coverageOverall"] == "50.0"


@pytest.mark.rule("BID-16")
async def test_evidence_that_ends_before_closing_reopens_a_row(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    bound: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tender = await factory.tender(host)
    asked = await factory.tenders.requirement(host, tender, {"kind": "document", "params": {}})
    made = await factory.workspace(host, owner.organization_id, owner.user_id, of_tender=tender)
    _, section = await factory.draft(host, owner.organization_id, made.id)
    path = f"/bids/workspaces/{made.id}/compliance-matrix"
    evidence_id = uuid4()
    answer = {
        "response": "comply",
        "sectionIds": [str(section.id)],
        "evidenceIds": [str(evidence_id)],
    }
    play_compliance(bound, monkeypatch, None)
    await api.patch(
        path,
        json={"rows": {str(asked.id): answer}},
        headers=owner.acting | {"If-Match": '"1"'},
    )

    play_compliance(bound, monkeypatch, date(2000, 1, 1))
    work = factory.working(bound, owner.organization_id)
    assert await factory.proposals.citing(work, [evidence_id]) == {made.id}
    await factory.proposals.refresh_evidence(work, made.id)
    await work.finish()

    stored = await factory.get(host, Workspace, made.id, owner.organization_id)
    assert (stored.coverage_overall, stored.coverage_mandatory) == (Decimal("50.0"), Decimal("0.0"))
    shown = (await api.get(path, headers=owner.acting)).json()["rows"][0]
    assert shown["evidence"] == [
        {"evidenceId": str(evidence_id), "atClosing": "expired", "validUntil": "2000-01-01"}
    ]
    assert UUID(shown["requirement"]["id"]) == asked.id
