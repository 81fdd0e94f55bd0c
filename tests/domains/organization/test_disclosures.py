"""Disclosures: plain values leave for a purpose, for who holds the right, and are recorded."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI

from tests.domains.organization import directing
from tests.domains.organization.companies import BANK, Company, company, count, member_of
from tests.factories import identity as people
from tests.planting import plant
from thenga.domains.organization import public
from thenga.domains.organization.services.facts import shown_value
from thenga.domains.organization.services.organizations import disclosures
from thenga.domains.organization.services.reference_data import FACTS
from thenga.kernel.errors import Conflict, Forbidden, NotFound, Problem, RuleViolated
from thenga.kernel.process.host import Host

TAX, ACCOUNT = "0001339050", BANK["accountNumber"]
FORM = public.DisclosureReference(domain="bid", type="sbdForm", id=uuid4(), version=2)
INVOICE = public.DisclosureReference(domain="contract", type="invoice", id=uuid4())
FIELDS = ("idNumber", "incomeTaxNumber", "bankAccount")
# What each purpose may have; every other pair is refused.
ALLOWED = {
    "bid_form": {"idNumber", "incomeTaxNumber"},
    "invoice": {"bankAccount"},
    "funding_application": {*FIELDS},
}
ROLES = {
    "owner": {*FIELDS},
    "bid_manager": {"idNumber", "incomeTaxNumber"},
    "finance_manager": {*FIELDS},
    "compliance_officer": {"idNumber", "incomeTaxNumber"},
    "viewer": set(),
}


class Disclosing:
    """A company with a director, a tax number and a bank account, asked by another domain."""

    def __init__(self, app: FastAPI, place: Company, director: UUID) -> None:
        self.place = place
        self._port: public.Disclosures = app.state.shared.host.bindings.of(public.Disclosures)
        facts = ("incomeTaxNumber", "bankAccount", "payeNumber")
        self.refs = {
            one: public.Ref(type="fact", id=f"{place.id}:{one}", version=1) for one in facts
        }
        self.refs["idNumber"] = public.Ref(type="director", id=str(director), version=1)

    async def reveal(
        self,
        *fields: str,
        purpose: str = "funding_application",
        key: str | None = None,
        who: people.Person | None = None,
        subjects: Sequence[public.Ref] | None = None,
    ) -> dict[str, Any]:
        """The values that are told, all subjects together."""
        told = await self._port.reveal(
            organization_id=self.place.id,
            subjects=list(subjects or [self.refs[one] for one in fields]),
            fields=list(fields),
            purpose=purpose,  # type: ignore[arg-type]  # each is one of the three
            reference=INVOICE if purpose == "invoice" else FORM,
            on_behalf_of=(who or self.place.owner).user_id,
            key=key or str(uuid4()),
        )
        return {name: value for one in told for name, value in one.values.items()}

    async def listed(self, query: str = "") -> list[dict[str, Any]]:
        answer = await self.place.get(f"/disclosures{query}")
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items


@pytest.fixture
async def mokoena(app: FastAPI, api: httpx2.AsyncClient, host: Host, seeded: None) -> Disclosing:
    place = await company(api, host)
    version = (await place.get()).headers["etag"]
    stated = await place.patch({"incomeTaxNumber": TAX, "bankAccount": BANK}, If_Match=version)
    assert stated.status_code == 200, stated.text
    added = await directing.add(api, place.owner)
    return Disclosing(app, place, UUID(added.json()["id"]))


@pytest.mark.rule("ORG-14")
async def test_a_form_gets_plain_values_in_one_disclosure(mokoena: Disclosing):
    told = await mokoena.reveal("idNumber", "incomeTaxNumber", purpose="bid_form")
    await mokoena.reveal("bankAccount", purpose="invoice")
    invoice, form = await mokoena.listed()
    events = await mokoena.place.told("SensitiveFactDisclosed")

    assert told == {"idNumber": directing.NUMBER, "incomeTaxNumber": TAX}
    assert (invoice["purpose"], form["purpose"]) == ("invoice", "bid_form")
    assert form["onBehalfOf"] == str(mokoena.place.owner.user_id)
    assert form["reference"] == FORM.model_dump(mode="json")
    assert [(one["type"], one["version"], one["fields"]) for one in form["subjects"]] == [
        ("director", 1, ["idNumber"]),
        ("fact", 1, ["incomeTaxNumber"]),
    ]
    assert [one["fields"] for one in events] == [["idNumber", "incomeTaxNumber"], ["bankAccount"]]
    assert events[0]["disclosureId"] == form["id"]
    assert [one["id"] for one in await mokoena.listed("?purpose=invoice")] == [invoice["id"]]


@pytest.mark.rule("ORG-14")
async def test_disclosed_values_stay_out_of_rows_and_events(mokoena: Disclosing):
    told = await mokoena.reveal(*FIELDS)
    texts = [str(await mokoena.listed())]
    async with mokoena.place.host.engines.connection(
        "organization", "organization_system"
    ) as connection:
        for table in ("disclosure", "outbox", "audit_entry"):
            rows = await connection.fetch(
                f"SELECT t::text FROM organization.{table} t WHERE organization_id = $1",
                mokoena.place.id,
            )
            texts += [row[0] for row in rows]

    plain = (directing.NUMBER, TAX, ACCOUNT)
    found = [text for text in texts if any(value in text for value in plain)]
    print(f"\ntexts={len(texts)} id_canaries={len(found)}")
    assert told["bankAccount"]["accountNumber"] == ACCOUNT
    assert found == []


async def is_given(mokoena: Disclosing, field: str, **how: Any) -> bool:
    try:
        return bool(await mokoena.reveal(field, **how))
    except (RuleViolated, Forbidden):
        return False


async def purpose_faults(mokoena: Disclosing) -> list[str]:
    """What a purpose is given and must not have, or is refused and should have."""
    return [
        f"{purpose}: {field}"
        for purpose, allowed in ALLOWED.items()
        for field in FIELDS
        if await is_given(mokoena, field, purpose=purpose) != (field in allowed)
    ]


@pytest.mark.rule("ORG-14")
async def test_each_purpose_gets_only_its_own_fields(mokoena: Disclosing):
    assert await purpose_faults(mokoena) == []


@pytest.mark.rule("ORG-14")
async def test_a_planted_purpose_that_gets_the_account_is_found(
    mokoena: Disclosing, monkeypatch: pytest.MonkeyPatch
):
    wide = disclosures.PURPOSES | {"bid_form": frozenset(disclosures.RIGHTS)}
    plant(monkeypatch, disclosures, "PURPOSES", wide)

    assert await purpose_faults(mokoena) == ["bid_form: bankAccount"]


async def rights_faults(mokoena: Disclosing) -> list[str]:
    """What a person of some role gets or does not get against the role's rights."""
    people_of = {role: await member_of(mokoena.place, role) for role in ROLES}
    return [
        f"{role}: {field}"
        for role, allowed in ROLES.items()
        for field in FIELDS
        if await is_given(mokoena, field, who=people_of[role]) != (field in allowed)
    ]


@pytest.mark.rule("ORG-14")
async def test_values_leave_only_for_who_holds_the_right(mokoena: Disclosing, host: Host):
    found = await rights_faults(mokoena)
    stranger = await people.person(host)
    with pytest.raises(NotFound):
        await mokoena.reveal("idNumber", who=stranger)
    with pytest.raises(Forbidden):
        bid_manager = await member_of(mokoena.place, "bid_manager")
        await mokoena.reveal("idNumber", "bankAccount", who=bid_manager)

    print(f"\nroles={len(ROLES)} faults={len(found)}")
    assert found == []


@pytest.mark.rule("ORG-14")
async def test_a_planted_disclosure_without_a_right_is_found(
    mokoena: Disclosing, monkeypatch: pytest.MonkeyPatch
):
    async def anybody(*_: Any) -> None:
        return None

    plant(monkeypatch, disclosures, "_demand", anybody)

    assert {"viewer: idNumber", "bid_manager: bankAccount"} <= set(await rights_faults(mokoena))


async def disclosed_twice(mokoena: Disclosing) -> list[str]:
    """What is wrong with disclosures that are repeated; nothing, if right."""
    first = await mokoena.reveal("idNumber", key="form 1")
    again = await asyncio.gather(*(mokoena.reveal("idNumber", key="form 1") for _ in range(5)))
    once = await mokoena.listed()
    await mokoena.reveal("idNumber", key="form 2")
    wanted = {
        "values": again == [first] * 5,
        "one": len(once) == 1,
        "two": len(await mokoena.listed()) == 2,
        "events": len(await mokoena.place.told("SensitiveFactDisclosed")) == 2,
    }
    return [name for name, right in wanted.items() if not right]


@pytest.mark.rule("ORG-14")
async def test_a_repeated_key_gives_the_values_and_is_recorded_once(mokoena: Disclosing):
    assert await disclosed_twice(mokoena) == []


@pytest.mark.rule("ORG-14")
async def test_planted_disclosures_that_ignore_the_key_are_found(
    mokoena: Disclosing, monkeypatch: pytest.MonkeyPatch
):
    known = disclosures.Request

    def fresh(**given: Any) -> disclosures.Request:
        return known(**given | {"key": str(uuid4())})

    plant(monkeypatch, disclosures, "Request", fresh)

    assert "one" in await disclosed_twice(mokoena)


@pytest.mark.rule("ORG-14")
async def test_a_key_is_refused_for_other_or_changed_values(mokoena: Disclosing):
    await mokoena.reveal("incomeTaxNumber", key="form 1")

    with pytest.raises(Conflict):
        await mokoena.reveal("idNumber", key="form 1")
    changed = await mokoena.place.patch({"incomeTaxNumber": "0001339068"})
    with pytest.raises(Conflict):
        await mokoena.reveal("incomeTaxNumber", key="form 1")

    assert (changed.status_code, len(await mokoena.listed())) == (200, 1)


@pytest.mark.rule("ORG-37")
async def test_a_pending_bank_account_is_not_disclosed(mokoena: Disclosing):
    version = (await mokoena.place.get()).headers["etag"]
    new = BANK | {"accountNumber": "62009999999"}
    changed = await mokoena.place.patch({"bankAccount": new}, If_Match=version)

    told = await mokoena.reveal("bankAccount", purpose="invoice")

    assert (changed.status_code, told["bankAccount"]["accountNumber"]) == (200, ACCOUNT)


async def refused(mokoena: Disclosing, field: str, ref: public.Ref) -> type[Problem] | None:
    try:
        await mokoena.reveal(field, subjects=[ref])
    except Problem as problem:
        return type(problem)
    return None


async def test_what_is_not_there_is_not_disclosed(
    app: FastAPI, api: httpx2.AsyncClient, mokoena: Disclosing, host: Host
):
    other = await company(api, host)
    theirs = await directing.add(api, other.owner)
    number, tax = mokoena.refs["idNumber"], mokoena.refs["incomeTaxNumber"]
    asked = [
        ("idNumber", number.model_copy(update={"id": theirs.json()["id"]})),
        ("idNumber", number.model_copy(update={"id": "nobody"})),
        ("incomeTaxNumber", tax.model_copy(update={"id": f"{other.id}:incomeTaxNumber"})),
        ("legalName", tax.model_copy(update={"id": f"{mokoena.place.id}:legalName"})),
        ("idNumber", tax),
        ("surname", number),
    ]

    found = [await refused(mokoena, field, ref) for field, ref in asked]
    blank = await mokoena.reveal("payeNumber")

    assert found == [NotFound] * 3 + [RuleViolated] * 3
    assert (blank, await mokoena.listed()) == ({}, [])


def test_every_masked_fact_can_be_disclosed_for_some_purpose():
    sample = dict.fromkeys(FACTS, "0123456789") | {"bankAccount": BANK}
    masked = {key for key, value in sample.items() if shown_value(key, value) != value}

    assert masked <= set().union(*disclosures.PURPOSES.values())
    assert set().union(*disclosures.PURPOSES.values()) == disclosures.RIGHTS.keys()


async def test_a_disclosure_cannot_be_changed_or_deleted(mokoena: Disclosing):
    await mokoena.reveal("idNumber")
    changes = (
        "UPDATE organization.disclosure SET purpose = 'invoice' WHERE organization_id = $1",
        "DELETE FROM organization.disclosure WHERE organization_id = $1",
    )

    for change in changes:
        with pytest.raises(asyncpg.PostgresError):
            await count(mokoena.place.host, change, mokoena.place.id)

    assert [one["purpose"] for one in await mokoena.listed()] == ["funding_application"]


async def test_the_list_is_for_who_may_read_it(mokoena: Disclosing):
    viewer = await member_of(mokoena.place, "viewer")
    officer = await member_of(mokoena.place, "compliance_officer")

    path = f"{mokoena.place.path}/disclosures"
    answers = [await mokoena.place.api.get(path, headers=who.headers) for who in (viewer, officer)]

    assert [one.status_code for one in answers] == [403, 200]
