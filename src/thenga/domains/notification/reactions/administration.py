"""Support cases: staff are told of what waits for them, the customer of an answer.

What is for staff belongs to the operator; a case's own organization is told only what is for the
person who opened it (NOT-4).
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from thenga.domains.administration import public as administration
from thenga.domains.notification.public import Recipient, Target
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.services import escalations, requests, tenants
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference

# Whoever triages cases works on the queue.
QUEUE = Target(kind="permission", permission="administration:support_case:triage")


@reactions.on(administration.SupportCaseOpened)
async def tell_staff_of_case(work: Work, event: administration.SupportCaseOpened) -> None:
    """Staff who triage cases are told of a new one, once; not whoever of them opened it."""
    facts = {
        "number": event.number,
        "category": event.category.replace("_", " "),
        "priority": event.priority,
        "dueAt": event.due_at.isoformat(),
    }
    key = f"case {event.case_id} opened"
    await _tell_staff(
        work,
        _asked("administration.support_case_opened", event.case_id, facts, key),
        [QUEUE],
        by=event.requester_user_id,
    )


@reactions.on(administration.SupportCaseReplied)
async def tell_other_side_of_reply(work: Work, event: administration.SupportCaseReplied) -> None:
    """A reply of staff is told to the person who opened the case, a customer's to its assignee.

    As long as a case has no assignee, all who triage cases are told.
    """
    key = f"message {event.message_id}"
    asked = _asked(
        "administration.support_case_replied", event.case_id, {"number": event.number}, key
    )
    if event.author_kind == "staff":
        await _tell_customer(work, asked, event.requester_user_id, by=event.author_user_id)
        return
    assignee = event.assignee_user_id
    target = QUEUE if assignee is None else Target(kind="users", user_ids=[assignee])
    await _tell_staff(work, asked, [target], by=event.author_user_id)


@reactions.on(administration.SupportCaseBreached)
async def escalate_breach(work: Work, event: administration.SupportCaseBreached) -> None:
    """A missed target is escalated among staff; one case has one open escalation (NOT-41).

    A sandbox moves its clock as it likes, so its cases alarm nobody.
    """
    if await tenants.is_known_sandbox(work):
        return
    await work.switch_scope(organization_id=OPERATOR)
    await escalations.open_escalation(
        work,
        key=f"case {event.case_id} {event.target} {event.due_at.isoformat()}",
        policy_key="support.breach",
        about=_about(event.case_id),
        facts={
            "number": event.number,
            "priority": event.priority,
            "target": event.target.replace("_", " "),
            "dueAt": event.due_at.isoformat(),
        },
    )


@reactions.on(administration.SupportCaseResolved)
async def tell_customer_of_resolution(
    work: Work, event: administration.SupportCaseResolved
) -> None:
    """The person who opened a case is told that it is resolved."""
    key = f"event {work.origin.causation_id}"  # a case that was reopened is resolved again
    asked = _asked(
        "administration.support_case_resolved", event.case_id, {"number": event.number}, key
    )
    await _tell_customer(work, asked, event.requester_user_id, by=None)


def _about(case_id: UUID) -> Reference:
    return Reference(domain="administration", type="supportCase", id=case_id)


def _asked(topic_code: str, case_id: UUID, facts: dict[str, str], key: str) -> Asked:
    return Asked(
        topic_code=topic_code,
        source_domain="administration",
        facts=facts,
        about=_about(case_id),
        dedupe_key=key,
    )


async def _tell_staff(work: Work, asked: Asked, targets: Sequence[Target], *, by: UUID) -> None:
    """Ask as the platform, at its own clock. A sandbox sends nothing outside, to staff either."""
    inside: tuple[ChannelKind, ...] = ("in_app",)
    is_sandbox = await tenants.is_known_sandbox(work)
    await work.switch_scope(organization_id=OPERATOR)
    await requests.accept_event(
        work,
        replace(
            asked,
            audience=targets,
            requested_by=by,
            channel_kinds=inside if is_sandbox else None,
            causation_event_id=_causation(work),
        ),
    )


async def _tell_customer(work: Work, asked: Asked, user_id: UUID, *, by: UUID | None) -> None:
    """Whoever opened a case for a customer as staff is no member there and gets no message."""
    await requests.accept_event(
        work,
        replace(
            asked,
            recipients=[Recipient(user_id=user_id)],
            requested_by=by,
            causation_event_id=_causation(work),
        ),
    )


def _causation(work: Work) -> UUID | None:
    event_id = work.origin.causation_id
    return UUID(event_id) if event_id else None
