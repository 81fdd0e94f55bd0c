"""A message about an event of another domain."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from thenga.domains.notification.public import Target
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.requests import Asked
from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.db.work import Work
from thenga.kernel.values.references import Reference


async def notify(
    work: Work,
    topic_code: str,
    facts: dict[str, str],
    audience: Sequence[Target],
    about: Reference,
    *,
    key: str | None = None,
    deadline_at: datetime | None = None,
    channels: tuple[ChannelKind, ...] | None = None,
) -> None:
    """Send one message for each key, or else for each event, however often it is delivered."""
    event_id = work.origin.causation_id
    await requests.accept_event(
        work,
        Asked(
            topic_code=topic_code,
            source_domain=about.domain,
            facts=facts,
            audience=audience,
            about=about,
            dedupe_key=key or f"{topic_code} {about.id} {event_id}",
            deadline_at=deadline_at,
            channel_kinds=channels,
            causation_event_id=UUID(event_id) if event_id else None,
        ),
    )
