"""Telling a person what happened to their account; Notification delivers it.

A message is asked for by reference: who, which topic and what it is about. Its facts are read when
it is handed over, so no address waits in a queue.
"""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.identity.tables import (
    FactorStatus,
    MfaFactor,
    RecoveryCode,
    Session,
    UserAccount,
)
from thenga.domains.notification.public import as_fact
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

ACCOUNT_LOCKED = "identity.account_locked"
ADDRESS_CHANGE_ASKED = "identity.address_change_asked"
NEW_DEVICE = "identity.new_device"
RECOVERY_CODE_USED = "identity.recovery_code_used"
RECOVERY_CODES_LOW = "identity.recovery_codes_low"

tell_person = job_stub("identity.tell_person", form=Form.OUTSIDE, key="{topic}:{about}")


@dataclass(frozen=True)
class Message:
    """What is told, to whom, and the facts that its text names."""

    topic: str
    user_id: UUID | None  # none while nobody has proved the address (SEC-66)
    email: str
    facts: dict[str, str]


def notify(work: Work, user_id: UUID, *, topic: str, about: str) -> None:
    """Have a person told once this commits."""
    work.enqueue(tell_person, topic=topic, user_id=user_id, about=about)


async def compose_message(read: Reader, topic: str, user_id: UUID, about: str) -> Message | None:
    """The message as it stands now; none where the account is gone."""
    await read.become(user_id)
    account = await read.find(UserAccount, id=user_id)
    if account is None:
        return None
    facts = {"name": as_fact(account.display_name)}
    if topic == ACCOUNT_LOCKED and account.locked_until is not None:
        facts["until"] = account.locked_until.isoformat()
    if topic in (RECOVERY_CODE_USED, RECOVERY_CODES_LOW):
        facts["left"] = str(await codes_left(read))
    if topic == NEW_DEVICE:  # IDN-17
        session = await read.get(Session, UUID(about))
        facts |= {
            "device": as_fact(session.device_label),
            "network": session.network,
            "at": session.authenticated_at.isoformat(),
        }
    known = None if account.email_verified_at is None else account.id
    return Message(topic, known, account.email, facts)


async def codes_left(read: Reader) -> int:
    """How many recovery codes of the active set were not used."""
    statement = (
        select(func.count())
        .select_from(RecoveryCode)
        .join(MfaFactor.__table__, MfaFactor.id == RecoveryCode.factor_id)
        .where(
            RecoveryCode.user_id == read.user_id,
            MfaFactor.user_id == read.user_id,
            MfaFactor.status == FactorStatus.ACTIVE,
            RecoveryCode.used_at.is_(None),
        )
    )
    return await read.value(statement) or 0
