"""Which letters to one address are counted together (NOT-50)."""

from thenga.domains.notification.services.templates import Topic
from thenga.domains.notification.values.messages import Budget

_ALERTS = frozenset({"opportunity.matched"})
_TOGETHER = {"identity.invitation_again": "identity.invitation"}


def budget_of(topic: Topic) -> Budget:
    """The budget of a topic: each kind of security letter and of alert has its own."""
    if topic.category == "security":
        return Budget("security", _TOGETHER.get(topic.code, topic.code))
    return Budget("alerts", topic.code) if topic.code in _ALERTS else Budget("ordinary")
