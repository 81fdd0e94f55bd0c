"""Messages of a case: written by either side, never changed."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.administration import public
from thenga.domains.administration.schemas.support_cases import WriteMessage
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.support import cases, clock, sides
from thenga.domains.administration.tables import (
    AuthorKind,
    SupportCase,
    SupportCaseStatus,
    SupportMessage,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import NOT_STORED
from thenga.kernel.db.work import Work


async def write_message(work: Work, case_id: UUID, given: WriteMessage) -> SupportMessage:
    """Add a message. The first of staff is the response; a customer's reopens a resolved case."""
    await sides.enter_case(work, case_id)
    case = await work.lock(SupportCase, case_id)
    staff = actions.is_staff(work)
    breaches = clock.record_breaches(work, case)
    if staff:
        case.responded_at = case.responded_at or work.now
        clock.schedule(case)
    elif case.status is SupportCaseStatus.RESOLVED:
        await cases.reopen(work, case)
    message = await work.add(
        SupportMessage.of(
            given,
            organization_id=case.organization_id,
            counterparty_id=case.counterparty_id,
            case_id=case.id,
            author_kind=AuthorKind.STAFF if staff else AuthorKind.CUSTOMER,
            author_user_id=actions.actor_of(work),
            reason=NOT_STORED,
        )
    )
    await work.touch(case)
    reply = public.SupportCaseReplied.of(
        case,
        message_id=message.id,
        author_kind=message.author_kind,
        author_user_id=message.author_user_id,
    )
    clock.publish(work, case, *breaches, reply)
    await actions.record(work, message, reason=given.reason)
    return message


async def list_messages(read: Reader, case_id: UUID, paged: Paged) -> Slice[SupportMessage]:
    """The messages of a case."""
    case = await read.get(SupportCase, case_id)
    statement = select(SupportMessage).where(
        SupportMessage.organization_id == case.organization_id,
        SupportMessage.case_id == case.id,
    )
    return await read.page(statement, paged)
