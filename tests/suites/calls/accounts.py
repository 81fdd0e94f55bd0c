"""Calls of accounts, devices and second factors."""

from uuid import UUID, uuid4

from tests.factories import accounts, identity
from tests.factories.identity import Person
from tests.suites.calls.sending import (
    PASSWORD,
    Maker,
    Sent,
    filled,
    of_person,
    spare_session,
)
from thenga.domains.identity.tables import (
    ChallengeStatus,
    FactorKind,
    FactorStatus,
    KnownDevice,
    MfaChallenge,
    UserStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


async def _own(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent({"userId": who.user_id})


async def _somebody(host: Host, organization_id: UUID) -> Person:
    """A colleague whose other sessions may end."""
    return await identity.member(host, organization_id, role="viewer")


async def _changing(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    body = filled({"displayName": "Lindiwe Mokoena *", "phone": "+27821234567"})
    return Sent({"userId": other.user_id}, lambda _: body, other.headers, stand_in=True)


async def _changing_password(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    body = {"newPassword": f"{PASSWORD} {uuid4().hex[:6]}"}
    return Sent({"userId": other.user_id}, lambda _: body, other.headers, stand_in=True)


async def _changing_address(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    body = {"email": f"{uuid4().hex}@example.test"}
    return Sent({"userId": other.user_id}, lambda _: body, other.headers, stand_in=True)


async def _freshly_proven(host: Host, who: Person) -> dict[str, str]:
    spare = await spare_session(host, who)
    return {"Authorization": f"Bearer {spare.pair.access_token}"}


async def _creating(host: Host, who: Person, organization_id: UUID) -> Sent:
    staff = await identity.staff(host, "platform_security")
    body = {"email": f"{uuid4().hex}@example.test", "displayName": "Ayanda", "reason": "Joined"}
    return Sent(body=lambda _: body, headers=staff.headers, by_staff=True)


async def _listing(host: Host, who: Person, organization_id: UUID) -> Sent:
    staff = await identity.staff(host, "platform_support")
    return Sent(headers=staff.headers, by_staff=True)


def _by_staff(given: dict[str, str], status: UserStatus = UserStatus.ACTIVE) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        staff = await identity.staff(host, "platform_security")
        other = await identity.person(host, status=status)
        body = filled(given)
        return Sent({"userId": other.user_id}, lambda _: body, staff.headers, by_staff=True)

    return make


async def _forgetting(host: Host, who: Person, organization_id: UUID) -> Sent:
    work = identity.working(host, user_id=who.user_id)
    device = await work.add(
        KnownDevice(user_id=who.user_id, label="Chrome", family="Android", last_seen_at=work.now)
    )
    await work.finish()
    return Sent({"userId": who.user_id, "deviceId": device.id})


async def _registering(host: Host, who: Person, organization_id: UUID) -> Sent:
    headers = await _freshly_proven(host, who)
    return Sent(body=lambda _: {"kind": "recovery_codes"}, headers=headers)


async def _verifying(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    factor, code = await accounts.totp(host, other, status=FactorStatus.PENDING)
    return Sent({"factorId": factor.id}, lambda _: {"code": code}, other.headers, stand_in=True)


async def _disabling(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    factor, _ = await accounts.totp(host, other, status=FactorStatus.PENDING)
    return Sent({"factorId": factor.id}, lambda _: {}, other.headers, stand_in=True)


async def _challenging(host: Host, who: Person, organization_id: UUID) -> Sent:
    return Sent(body=lambda _: {"purpose": "step_up", "kind": "totp"})


async def _answering(host: Host, who: Person, organization_id: UUID) -> Sent:
    other = await _somebody(host, organization_id)
    factor, code = await accounts.totp(host, other)
    work = identity.working(host, user_id=other.user_id)
    asked = await work.add(
        MfaChallenge(
            id=new_id(),
            user_id=other.user_id,
            session_id=other.session_id,
            factor_id=factor.id,
            kind=FactorKind.TOTP,
            purpose="step_up",
            status=ChallengeStatus.ISSUED,
            expires_at=work.now + accounts.MINUTES,
        )
    )
    await work.finish()
    return Sent(
        {"challengeId": asked.id},
        lambda _: {"code": code},
        other.headers,
        ends_session=True,
        stand_in=True,
    )


MAKERS: dict[str, Maker] = {
    "get_me": of_person,
    "create_user": _creating,
    "list_users": _listing,
    "get_user": _own,
    "change_user": _changing,
    "disable_user": _by_staff(
        {"reason": "The holder asked for it, case */2026", "code": "request"}
    ),
    "enable_user": _by_staff({"reason": "Identity confirmed, case */2026"}, UserStatus.DISABLED),
    "unlock_user": _by_staff({"reason": "Confirmed by phone, case */2026"}),
    "change_password": _changing_password,
    "ask_address_change": _changing_address,
    "list_devices": _own,
    "forget_device": _forgetting,
    "register_factor": _registering,
    "list_factors": of_person,
    "verify_factor": _verifying,
    "disable_factor": _disabling,
    "create_challenge": _challenging,
    "answer_challenge": _answering,
}
