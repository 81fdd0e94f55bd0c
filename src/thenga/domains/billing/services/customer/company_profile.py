"""What Organization knows about the billed company. No answer means unknown.

Ports are called before the first write. Billing keeps its own copy of what documents print, and
only a keyed hash of a registration number.
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
from thenga.kernel.values.calendar import HOME_ZONE, local_day

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
    """A verified registration number. `known` is false if Organization did not answer."""

    number: str | None = None
    known: bool = True


async def company_profile_of(read: Reader) -> dict[str, str]:
    """The profile facts that documents print, by our field names."""
    facts = await _facts(read, [*_PRINTED]) or []
    return {_PRINTED[fact.key]: str(fact.value) for fact in facts if fact.value is not None}


async def registered(read: Reader) -> Registered:
    """The company's verified registration number, which identifies it for trials (SEC-69)."""
    facts = await _facts(read, [_NUMBER])
    if facts is None:
        return Registered(known=False)
    good = (
        fact
        for fact in facts
        if fact.verification_status == "verified" and not fact.conflict and fact.value is not None
    )
    found = next(good, None)
    return Registered() if found is None else Registered(_normal(read, str(found.value)))


async def _facts(read: Reader, keys: list[str]) -> list[FactView] | None:
    """The company's facts. None if Organization did not answer; empty if it does not know the
    company or is not deployed."""
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
    """Whether it is a sandbox organization. None if Organization did not answer."""
    try:
        profiles = read.port(Profiles)
        asked = profiles.mode(organization_id=read.organization_id)
        return await within(profiles.port_timeout, profiles.port_name, asked) == "sandbox"
    except (LookupError, Problem):
        return None


async def time_zone_of(read: Reader) -> str:
    """The organization's time zone, or the default if Organization does not say."""
    try:
        profiles = read.port(Profiles)
        asked = profiles.time_zone(organization_id=read.organization_id)
        return await within(profiles.port_timeout, profiles.port_name, asked)
    except (LookupError, Problem):
        return HOME_ZONE


def bill_to_from_profile(read: Reader, described: dict[str, str]) -> dict[str, Any]:
    """Billing details from the profile, without numbers that are not valid."""
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
    """Record the trial of this company and return whether it had one before. Without a verified
    number the person counts instead (BIL-17, SEC-69).

    Only a keyed hash is stored, so nobody can list who had a trial.
    """
    digest = sealing.mac(work.host.key(_PURPOSE), (number or _person(work)).encode())
    await work.present(digest)
    if await work.find(TrialCompany, hash=digest) is not None:
        return True
    await work.add(TrialCompany(hash=digest))
    return False


def _person(work: Work) -> str:
    """The person who starts the trial. A job has none and stands for its organization."""
    if work.actor.kind is ActorKind.USER:
        return f"person:{work.actor.id}"
    return f"organization:{work.organization_id}"
