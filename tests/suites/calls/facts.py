"""Calls of facts and suggestions: each finds the fact in a state in which it succeeds."""

import random
from uuid import UUID, uuid4

from sqlalchemy import select

from tests.factories import facts, identity
from tests.factories.identity import Person
from tests.factories.organization import disclosure, working
from tests.suites.calls.sending import (
    Ids,
    Maker,
    Sent,
    filled,
    of_organization,
    of_person,
    stating,
)
from thenga.domains.organization.services.facts import suggestions
from thenga.domains.organization.tables import (
    FactConflict,
    FactSuggestion,
    FactVerification,
    SuggestionStatus,
)
from thenga.kernel.process.host import Host

# The fact that the path of an operation names; none is a part of two makers' work.
KEYS = {
    "withdraw_statement": "employeeCount",
    "resolve_conflict": "sectors",
    "request_verification": "coidaNumber",
    "verify_fact": "cidbCrsNumber",
}
ANY_KEY = "website"
_DECIDED = "foundedYear"
_CONFIRMED = ("legalName", "legalForm", "tradingName", "description", "website")


async def _confirming(host: Host, who: Person, organization_id: UUID) -> Sent:
    keys = random.sample(_CONFIRMED, 2)
    return Sent({"organizationId": organization_id}, lambda _: {"factKeys": keys})


async def _withdrawing(host: Host, who: Person, organization_id: UUID) -> Sent:
    key, place = KEYS["withdraw_statement"], (organization_id, who.user_id)
    if (await facts.picture(host, *place, key)).fact is None:
        await facts.stated(host, *place, **{key: 7})
        # One that stays, so that taking another one back changes nothing else.
        await facts.imported(host, *place, key, 8, register="csd_report")
    value = random.randint(10, 900_000)
    made = await facts.imported(host, *place, key, value, register=f"file {uuid4()}")
    ids = {"organizationId": organization_id, "statementId": made.id}
    return Sent(ids, lambda ids: {"statementId": str(ids["statementId"])})


async def _resolving(host: Host, who: Person, organization_id: UUID) -> Sent:
    key, place = KEYS["resolve_conflict"], (organization_id, who.user_id)
    found = await facts.picture(host, *place, key)
    if found.customer is None:
        await facts.stated(host, *place, **{key: ["construction"]})
    if found.fact is None or found.fact.conflict_status is not FactConflict.CONFLICTED:
        await facts.imported(host, *place, key, [uuid4().hex], register="csd_report")
        found = await facts.picture(host, *place, key)
    assert found.fact is not None and found.customer is not None
    said = filled({"reason": "Checked against the signed contract *"})

    def body(ids: Ids) -> dict[str, str]:
        return said | {"statementId": str(ids["statementId"])}

    ids = {"organizationId": organization_id, "statementId": found.customer.id}
    return Sent(ids, body, {"If-Match": f'"{found.fact.version}"'})


async def _requesting(host: Host, who: Person, organization_id: UUID) -> Sent:
    key = KEYS["request_verification"]
    number = str(random.randint(10**10, 10**11))
    await facts.stated(host, organization_id, who.user_id, **{key: number})
    return Sent({"organizationId": organization_id})


async def _verifying(host: Host, who: Person, organization_id: UUID) -> Sent:
    key, place = KEYS["verify_fact"], (organization_id, who.user_id)
    found = (await facts.picture(host, *place, key)).fact
    if found is None or found.verification_status is not FactVerification.UNVERIFIED:
        await facts.stated(host, *place, **{key: str(random.randint(10**10, 10**11))})
    curator = await identity.staff(host, "platform_curator")
    given = {"outcome": "verified", "method": "manual", "source": {"reference": "register"}}
    body = given | filled({"note": "Found in the register under entry */2026"})
    ids = {"organizationId": organization_id}
    return Sent(ids, lambda _: body, curator.headers, by_staff=True)


async def _waiting(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await facts.suggestion(
        host, organization_id, who.user_id, "description", f"Builds roads {uuid4()}"
    )
    body = filled({"reasonCode": "other", "text": "We do not offer this, see case */2026"})
    ids = {"organizationId": organization_id, "suggestionId": made.id}
    return Sent(ids, lambda _: body)


async def _reading(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent((await _waiting(host, who, organization_id)).ids)


async def _disclosing(host: Host, who: Person, organization_id: UUID) -> Sent:
    await disclosure(host, organization_id, who.user_id)
    return Sent({"organizationId": organization_id})


async def _accepting(host: Host, who: Person, organization_id: UUID) -> Sent:
    place = (organization_id, who.user_id)
    if (await facts.picture(host, *place, _DECIDED)).fact is None:
        await facts.stated(host, *place, **{_DECIDED: 1999})
        # What counts comes from a suggestion from now on, as it does after every call.
        first = await facts.suggestion(host, *place, _DECIDED, 2000)
        deciding = working(host, who.user_id, organization_id)
        await suggestions.accept_suggestion(deciding, first.id, value=None)
        await deciding.finish()
    work = working(host, who.user_id, organization_id)
    pending = await work.all(
        select(FactSuggestion).where(
            FactSuggestion.fact_key == _DECIDED,
            FactSuggestion.status == SuggestionStatus.PENDING,
        )
    )
    await work.close()
    # One that waits already is taken: accepting it would end every other one of this fact.
    made = pending[0] if pending else await facts.suggestion(host, *place, _DECIDED, 2001)
    year = random.randint(1900, 2020)
    ids = {"organizationId": organization_id, "suggestionId": made.id}
    return Sent(ids, lambda _: {"value": year})


_PROPOSAL = {
    "target": {"factKey": "description"},
    "proposedValue": "Builds bridges *",
    "confidence": 0.7,
    "sources": [{"reference": "document 7"}],
    "producedBy": {"name": "profile-reader", "version": "3.1"},
}

MAKERS: dict[str, Maker] = {
    "list_facts": of_organization,
    "get_fact": of_organization,
    "get_fact_version": of_organization,
    "confirm_facts": _confirming,
    "withdraw_statement": _withdrawing,
    "resolve_conflict": _resolving,
    "request_verification": _requesting,
    "verify_fact": _verifying,
    "list_fact_keys": of_person,
    "propose_fact": stating(_PROPOSAL),
    "list_suggestions": of_organization,
    "get_suggestion": _reading,
    "accept_suggestion": _accepting,
    "reject_suggestion": _waiting,
    "list_disclosures": _disclosing,
}
