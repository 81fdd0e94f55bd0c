"""What Organization says of the company that is billed; silence means unknown.

Asked before the first write. Billing keeps what is printed on documents as its own, and of a
registered number only a keyed hash.
"""

from typing import Any

from thenga.domains.billing.services import registrations
from thenga.domains.billing.tables import TrialCompany
from thenga.domains.organization.public import Profiles
from thenga.kernel import sealing
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.ports.binding import within

_PRINTED = {
    "legalName": "legal_name",
    "tradingName": "trading_name",
    "registrationNumber": "registration_number",
    "vatNumber": "vat_number",
}
_PURPOSE = "trial-company"


async def described(read: Reader) -> dict[str, str]:
    """What is printed on documents, by our own names, as the company's profile has it."""
    try:
        profiles = read.port(Profiles)
    except LookupError:
        return {}  # nobody answers for Organization in this deployment
    try:
        asked = profiles.describe(
            organization_id=read.organization_id, purpose="display", fact_keys=[*_PRINTED]
        )
        profile = await within(profiles.port_timeout, profiles.port_name, asked)
    except Problem:
        return {}
    return {_PRINTED[one.key]: str(one.value) for one in profile.facts if one.value is not None}


async def is_sandbox(read: Reader) -> bool | None:
    """Whether an organization only tries things out; None where nobody says."""
    try:
        profiles = read.port(Profiles)
        asked = profiles.mode(organization_id=read.organization_id)
        return await within(profiles.port_timeout, profiles.port_name, asked) == "sandbox"
    except (LookupError, Problem):
        return None


def bill_to(read: Reader, described: dict[str, str]) -> dict[str, Any]:
    """A recipient as the profile has it; a number that we cannot read is left out."""
    made: dict[str, Any] = dict(described)
    if "vat_number" in made:
        made["vat_number"] = registrations.vat_number(made["vat_number"])
    number = _registered(read, described)
    if number is None:
        made.pop("registration_number", None)
    else:
        made["registration_number"] = number
    return made


def _registered(read: Reader, described: dict[str, str]) -> str | None:
    given = described.get("registration_number")
    if given is None:
        return None
    try:
        return registrations.registration_number(given, local_day(read.now))
    except RuleViolated:
        return None


async def has_tried(work: Work, described: dict[str, str]) -> bool:
    """Whether this registered company had its trial, in whichever organization (BIL-17).

    The first time it is remembered. Found by its hash and by nothing else, so nobody can ask who.
    """
    number = _registered(work, described)
    if number is None:
        return False
    digest = sealing.mac(work.host.key(_PURPOSE), number.encode())
    await work.present(digest)
    if await work.find(TrialCompany, hash=digest) is not None:
        return True
    await work.add(TrialCompany(hash=digest))
    return False
