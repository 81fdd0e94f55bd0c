"""Calls of people: registering, signing in, sessions, questions about rights."""

from uuid import UUID, uuid4

from tests.factories import accounts, identity, providers
from tests.factories.identity import Person
from tests.suites.calls.accounts import MAKERS as ACCOUNTS
from tests.suites.calls.sending import PASSWORD, Maker, Sent, of_person, spare_session
from thenga.domains.identity.tables import Password, UserStatus
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


async def _signing_out(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    bearer = {"Authorization": f"Bearer {spare.pair.access_token}"}
    return Sent(headers=bearer, ends_session=True)


async def _revoking(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    return Sent({"sessionId": spare.session.id})


async def _registering(host: Host, who: Person, organization_id: UUID) -> Sent:
    email = f"{uuid4().hex}@example.test"
    return Sent(body=lambda _: {"email": email, "displayName": "Sipho Dlamini"})


async def _verifying(host: Host, who: Person, organization_id: UUID) -> Sent:
    somebody = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)
    link = await accounts.link(host, somebody, purpose="register")
    return Sent(body=lambda _: {"token": link, "password": PASSWORD})


async def _signing_in(host: Host, who: Person, organization_id: UUID) -> Sent:
    somebody = await accounts.account(host)
    return Sent(body=lambda _: somebody.signing_in)


async def _refreshing(host: Host, who: Person, organization_id: UUID) -> Sent:
    spare = await spare_session(host, who)
    return Sent(body=lambda _: {"refreshToken": spare.pair.refresh_token})


async def _asking_reset(host: Host, who: Person, organization_id: UUID) -> Sent:
    email = f"{uuid4().hex}@example.test"
    return Sent(body=lambda _: {"email": email})


async def _resetting(host: Host, who: Person, organization_id: UUID) -> Sent:
    link = await accounts.link(host, await accounts.account(host), purpose="reset_password")
    return Sent(body=lambda _: {"token": link, "newPassword": PASSWORD})


async def _confirming_address(host: Host, who: Person, organization_id: UUID) -> Sent:
    link = await accounts.link(host, await accounts.account(host), purpose="change_address")
    return Sent(body=lambda _: {"token": link})


async def _proving(host: Host, who: Person, organization_id: UUID) -> Sent:
    work = identity.working(host, user_id=who.user_id)
    if await work.find(Password) is None:
        await work.add(Password(user_id=who.user_id, phc=accounts.phc()))
    await work.finish()
    return Sent(body=lambda _: {"password": PASSWORD})


async def _switching(host: Host, who: Person, organization_id: UUID) -> Sent:
    somebody = await identity.member(host, organization_id, role="viewer")
    there = await identity.member(host, new_id(), role="viewer", who=somebody)
    ids = {"sessionId": somebody.session_id, "target": there.organization_id}
    return Sent(
        ids, lambda ids: {"organizationId": str(ids["target"])}, somebody.headers, stand_in=True
    )


async def _starting_at_provider(host: Host, who: Person, organization_id: UUID) -> Sent:
    code = await providers.provider(host)
    body = {"returnTo": providers.RETURN_TO}
    return Sent(body=lambda _: body, parts={"provider": code})


async def _returning(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent(parts={"provider": await providers.provider(host)})


async def _linked(host: Host, who: Person, organization_id: UUID) -> Sent:
    await providers.linked(host, await providers.provider(host), who.user_id)
    return Sent({"userId": who.user_id})


async def _unlinking(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await identity.member(host, organization_id, role="viewer")
    for _ in range(2):
        made = await providers.linked(host, await providers.provider(host), other.user_id)
    ids = {"userId": other.user_id, "externalIdentityId": made}
    return Sent(ids, headers=other.headers, stand_in=True)


MAKERS: dict[str, Maker] = ACCOUNTS | {
    "register": _registering,
    "verify_address": _verifying,
    "sign_in": _signing_in,
    "start_provider_sign_in": _starting_at_provider,
    "return_from_provider": _returning,
    "list_external_identities": _linked,
    "remove_external_identity": _unlinking,
    "refresh": _refreshing,
    "sign_out": _signing_out,
    "ask_password_reset": _asking_reset,
    "confirm_password_reset": _resetting,
    "confirm_address_change": _confirming_address,
    "step_up": _proving,
    "list_sessions": of_person,
    "get_session": _revoking,
    "revoke_session": _revoking,
    "switch_organization": _switching,
}
