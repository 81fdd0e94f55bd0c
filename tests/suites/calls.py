"""How each operation is called so that it succeeds: one maker an operation.

Suites that walk all operations take their requests from here; `uncovered` names the operations
that nobody has written a maker for, and a suite fails while there is one.
"""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID, uuid4

from tests.factories import identity, organization
from tests.factories.identity import Person
from thenga.domains.identity.services import sessions
from thenga.domains.identity.services.auth import _hashing, _names
from thenga.domains.identity.tables import OneTimeLink, Password, SignInName, UserAccount
from thenga.domains.identity.tables import UserStatus as U
from thenga.domains.organization.tables import EquipmentStatus as E
from thenga.kernel import tokens
from thenga.kernel.host import Host
from thenga.kernel.http.operations import Operation
from thenga.kernel.ids import new_id

Ids = Mapping[str, UUID]
Body = dict[str, Any] | None
PASSWORD = "wheel anvil mango thunder"


@dataclass(frozen=True)
class Sent:
    """A request that its rightful caller may send now; `ids` are all that it names."""

    ids: dict[str, UUID] = field(default_factory=dict)
    body: Callable[[Ids], Body] = lambda _: None
    headers: dict[str, str] = field(default_factory=dict)
    ends_session: bool = False  # it is refused from then on, so each call needs another


Maker = Callable[[Host, Person, UUID], Awaitable[Sent]]


def path_of(operation: Operation, ids: Ids) -> str:
    """The path with its identifiers put in; ids that the body holds are left over."""
    return operation.path.format(**{name: str(value) for name, value in ids.items()})


def uncovered(operations: Sequence[Operation]) -> set[str]:
    """Operations without a maker, and makers without an operation."""
    return {one.name for one in operations} ^ MAKERS.keys()


async def spare_session(host: Host, who: Person) -> sessions.SignedIn:
    """Another session of the same person."""
    work = identity.working(host, user_id=who.user_id)
    signed_in = await sessions.start(work, who.user_id, methods=["password"])
    await work.finish()
    return signed_in


async def _of_person(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent()


async def _of_organization(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({"organizationId": organization_id})


def _stating(given: dict[str, Any]) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        body = _filled(given)
        return Sent({"organizationId": organization_id}, lambda _: body)

    return make


def _filled(given: dict[str, Any]) -> dict[str, Any]:
    """A new body each time: `*` becomes a text, a range a number that were not there before."""
    return {name: _chosen(value) for name, value in given.items()}


def _chosen(value: Any) -> Any:
    if isinstance(value, range):
        return random.choice(value)
    return value.replace("*", uuid4().hex[:12]) if isinstance(value, str) else value


def _on_machine(status: E = E.AVAILABLE, given: Body = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        item = await organization.equipment(host, organization_id, who.user_id, status=status)
        body = given and _filled(given)
        return Sent({"organizationId": organization_id, "equipmentId": item.id}, lambda _: body)

    return make


async def _signing_out(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    bearer = {"Authorization": f"Bearer {spare.pair.access_token}"}
    return Sent(headers=bearer, ends_session=True)


async def _revoking(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    return Sent({"sessionId": spare.session.id})


async def _asking(host: Host, who: Person, organization_id: UUID) -> Sent:
    def body(ids: Ids) -> Body:
        return {
            "actor": {"type": "user", "id": str(ids["actor"])},
            "tenant": {"type": "organization", "id": str(ids["tenant"])},
            "action": {"name": "organization:equipment:read"},
            "resource": {"type": "equipment", "id": str(ids["resource"])},
            "context": {"requestId": "suite", "channel": "http"},
        }

    return Sent({"actor": who.user_id, "tenant": organization_id, "resource": new_id()}, body)


async def _founding(host: Host, who: Person, organization_id: UUID) -> Sent:
    profile = {"legalName": f"Founded {uuid4().hex[:12]}", "legalForm": "private_company"}
    return Sent(body=lambda _: {"organizationType": "enterprise", "profile": profile})


async def _registering(host: Host, who: Person, organization_id: UUID) -> Sent:
    email = f"{uuid4().hex}@example.test"
    return Sent(body=lambda _: {"email": email, "displayName": "Sipho Dlamini"})


@cache
def _phc() -> str:
    return _hashing._HASHER.hash(PASSWORD)


async def _account(host: Host, status: U, link: str) -> str:
    """An address with an account, a password and an open link."""
    user_id = new_id()
    email = f"{user_id.hex}@example.test"
    key, digest = _names.account_key(host, email), tokens.digest(link)
    work = identity.working(host, user_id=user_id)
    zone = "Africa/Johannesburg"
    await work.add(
        UserAccount(
            id=user_id,
            user_id=user_id,
            email=email,
            display_name="Sipho Dlamini",
            locale="en-ZA",
            time_zone=zone,
            status=status,
        )
    )
    await work.present(key)
    await work.add(SignInName(hash=key, user_id=user_id, link_hash=digest))
    await work.present(digest)
    until = work.now + sessions.ACCESS
    await work.add(
        OneTimeLink(
            hash=digest, purpose="register", account_key=key, user_id=user_id, expires_at=until
        )
    )
    if status is U.ACTIVE:
        await work.add(Password(user_id=user_id, phc=_phc()))
    await work.finish()
    return email


async def _verifying(host: Host, who: Person, organization_id: UUID) -> Sent:
    link = tokens.mint(tokens.Prefix.LINK)
    await _account(host, U.PENDING_VERIFICATION, link)
    return Sent(body=lambda _: {"token": link, "password": PASSWORD})


async def _signing_in(host: Host, who: Person, organization_id: UUID) -> Sent:
    email = await _account(host, U.ACTIVE, tokens.mint(tokens.Prefix.LINK))
    return Sent(body=lambda _: {"method": "password", "email": email, "password": PASSWORD})


async def _refreshing(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    return Sent(body=lambda _: {"refreshToken": spare.pair.refresh_token})


MAKERS: dict[str, Maker] = {
    "register": _registering,
    "verify_address": _verifying,
    "sign_in": _signing_in,
    "refresh": _refreshing,
    "sign_out": _signing_out,
    "list_sessions": _of_person,
    "revoke_session": _revoking,
    "authorize": _asking,
    "found_organization": _founding,
    "get_organization": _of_organization,
    "change_profile": _stating({"tradingName": "Traded as *"}),
    "move_clock": _stating({"forwardSeconds": range(1, 86_400)}),
    "add_equipment": _stating({"name": "Crane *", "quantity": 1, "serialNumber": "SN-*"}),
    "list_equipment": _of_organization,
    "get_equipment": _on_machine(),
    "change_equipment": _on_machine(given={"name": "Renamed *", "quantity": 2}),
    "archive_equipment": _on_machine(),
    "assign_equipment": _on_machine(),
    "release_equipment": _on_machine(E.IN_USE),
    "maintain_equipment": _on_machine(),
    "return_equipment": _on_machine(E.MAINTENANCE),
    "retire_equipment": _on_machine(),
}
