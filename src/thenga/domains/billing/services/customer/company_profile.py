"""What Organization says of the company that is billed; silence means unknown.

Asked before the first write. Billing keeps what is printed on documents as its own, and of a
registered number only a keyed hash.
"""

from dataclasses import dataclass
from typing import Any

from thenga.domains.billing.services.customer import registration_numbers
from thenga.domains.billing.tables import TrialCompany
from thenga.domains.organization.public import FactView, Profiles
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.crypto import sealing
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, Problem, RuleViolated
from thenga.kernel.ports.binding import within
from thenga.kernel.values.calendar import local_day

_NUMBER = "registrationNumber"
_PRINTED = {
    "legalName": "legal_name",
    "tradingName": "trading_name",
    _NUMBER: "registration_number",
    "vatNumber": "vat_number",
}
_PURPOSE = "trial-company"


@dataclass(frozen=True, slots=True)
class Registered:
    """The registration number of a company that somebody verified; `known` is false where
    Organization did not answer."""

    number: str | None = None
    known: bool = True


async def company_profile_of(read: Reader) -> dict[str, str]:
    """What is printed on documents, by our own names, as the company's profile has it."""
    facts = await _facts(read, [*_PRINTED]) or []
    return {_PRINTED[one.key]: str(one.value) for one in facts if one.value is not None}


async def registered(read: Reader) -> Registered:
    """The number under which the company has its trial: only a verified one counts (SEC-69)."""
    facts = await _facts(read, [_NUMBER])
    if facts is None:
        return Registered(known=False)
    good = (
        one
        for one in facts
        if one.verification_status == "verified" and not one.conflict and one.value is not None
    )
    found = next(good, None)
    return Registered() if found is None else Registered(_normal(read, str(found.value)))


async def _facts(read: Reader, keys: list[str]) -> list[FactView] | None:
    """None where Organization is silent; nothing where it does not know the company, or nobody
    answers for it in this deployment."""
    try:
        profiles = read.port(Profiles)
    except LookupError:
        return []
    asked = profiles.describe(
        organization_id=read.organization_id, purpose="display", fact_keys=keys
    )
    try:
        return (await within(profiles.port_timeout, profiles.port_name, asked)).facts
    except DependencyUnavailable:
        return None
    except Problem:
        return []


async def is_sandbox(read: Reader) -> bool | None:
    """Whether an organization only tries things out; None where nobody says."""
    try:
        profiles = read.port(Profiles)
        asked = profiles.mode(organization_id=read.organization_id)
        return await within(profiles.port_timeout, profiles.port_name, asked) == "sandbox"
    except (LookupError, Problem):
        return None


def bill_to_from_profile(read: Reader, described: dict[str, str]) -> dict[str, Any]:
    """A recipient as the profile has it; a number that we cannot read is left out."""
    made: dict[str, Any] = dict(described)
    if "vat_number" in made:
        made["vat_number"] = registration_numbers.vat_number(made["vat_number"])
    number = _normal(read, described.get("registration_number", ""))
    if number is None:
        made.pop("registration_number", None)
    else:
        made["registration_number"] = number
    return made


def _normal(read: Reader, given: str) -> str | None:
    try:
        return registration_numbers.registration_number(given, local_day(read.now))
    except RuleViolated:
        return None


async def has_used_trial(work: Work, number: str | None) -> bool:
    """Whether this company had its trial, in whichever organization; without a verified number,
    whether this person had one (BIL-17, SEC-69).

    The first time it is remembered. Found by its hash and by nothing else, so nobody can ask who.
    """
    digest = sealing.mac(work.host.key(_PURPOSE), (number or _person(work)).encode())
    await work.present(digest)
    if await work.find(TrialCompany, hash=digest) is not None:
        return True
    await work.add(TrialCompany(hash=digest))
    return False


def _person(work: Work) -> str:
    """Who begins the trial; only people can by HTTP, a job begins one for its organization."""
    if work.actor.kind is ActorKind.USER:
        return f"person:{work.actor.id}"
    return f"organization:{work.organization_id}"
