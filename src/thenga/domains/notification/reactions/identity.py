"""Events of Identity that become messages to the person concerned (NOT-3)."""

from uuid import UUID

from thenga.domains.identity import public as identity
from thenga.domains.notification.public import Recipient
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.requests import Asked
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference


@reactions.on(identity.MembershipChanged)
async def tell_former_member(work: Work, event: identity.MembershipChanged) -> None:
    """Whoever is no longer a member is told in writing (NOT-3)."""
    if event.status == "removed" and event.previous_status != "removed":
        about = Reference(domain="identity", type="membership", id=event.membership_id)
        await _tell(work, "identity.membership_ended", event.user_id, about)


@reactions.on(identity.UserDisabled)
async def tell_disabled_person(work: Work, event: identity.UserDisabled) -> None:
    """Whoever loses their account is told in writing, by the platform itself (NOT-3)."""
    await work.enter_organization(OPERATOR)
    about = Reference(domain="identity", type="user", id=event.user_id)
    await _tell(work, "identity.account_disabled", event.user_id, about)


async def _tell(work: Work, topic_code: str, user_id: UUID, about: Reference) -> None:
    event_id = work.origin.causation_id
    await requests.accept_event(
        work,
        Asked(
            topic_code=topic_code,
            source_domain="identity",
            facts={},
            recipients=[Recipient(user_id=user_id)],
            about=about,
            dedupe_key=event_id,
            causation_event_id=UUID(event_id) if event_id else None,
            exclude_actor=False,
        ),
    )
