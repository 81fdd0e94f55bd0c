"""Templates: topics, variables, and texts by language and channel (NOT-22 to NOT-27)."""

from thenga.domains.notification.services.templates.contents import (
    FALLBACK,
    LANGUAGES,
    Content,
    ContentFault,
    Language,
    faults_of,
    platform_content,
)
from thenga.domains.notification.services.templates.rendering import (
    HeaderRefused,
    Rendered,
    choose_language,
    header_value,
    render,
    render_for_history,
)
from thenga.domains.notification.services.templates.seed import seed
from thenga.domains.notification.services.templates.topics import (
    Acknowledgement,
    Category,
    ChannelKind,
    Lane,
    Topic,
    TopicUnknown,
    find_topic,
    topics,
    unknown_topic,
)
from thenga.domains.notification.services.templates.variables import (
    FactFault,
    Locale,
    Variable,
    check_facts,
)
from thenga.domains.notification.services.templates.versions import Approved, approved

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "Acknowledgement",
    "Approved",
    "Category",
    "ChannelKind",
    "Content",
    "ContentFault",
    "FactFault",
    "HeaderRefused",
    "Lane",
    "Language",
    "Locale",
    "Rendered",
    "Topic",
    "TopicUnknown",
    "Variable",
    "approved",
    "check_facts",
    "choose_language",
    "faults_of",
    "find_topic",
    "header_value",
    "platform_content",
    "render",
    "render_for_history",
    "seed",
    "topics",
    "unknown_topic",
]
