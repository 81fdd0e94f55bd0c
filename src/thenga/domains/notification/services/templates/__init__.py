"""Templates: topics, variables, and texts by language and channel (NOT-22 to NOT-27)."""

from thenga.domains.notification.services.templates.contents import (
    FALLBACK,
    LANGUAGES,
    Content,
    ContentFault,
    faults_of,
    platform_content,
)
from thenga.domains.notification.services.templates.rendering import (
    Rendered,
    choose_language,
    render,
    render_for_history,
)
from thenga.domains.notification.services.templates.topics import (
    Acknowledgement,
    Category,
    ChannelKind,
    Lane,
    Topic,
    topics,
)
from thenga.domains.notification.services.templates.variables import (
    FactFault,
    Locale,
    Variable,
    check_facts,
)

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "Acknowledgement",
    "Category",
    "ChannelKind",
    "Content",
    "ContentFault",
    "FactFault",
    "Lane",
    "Locale",
    "Rendered",
    "Topic",
    "Variable",
    "check_facts",
    "choose_language",
    "faults_of",
    "platform_content",
    "render",
    "render_for_history",
    "topics",
]
