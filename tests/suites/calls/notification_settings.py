"""Calls of templates, preferences and the preview of recipients."""

import random
from typing import Any
from uuid import UUID

from pydantic.alias_generators import to_camel

from tests.factories import templates as factory
from tests.factories.identity import Person
from tests.suites.calls.sending import Ids, Maker, Sent, filled, of_person
from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.tables import Preference
from thenga.kernel.process.host import Host

_RECEIPT = "billing.receipt"


def _content(topic_code: str) -> dict[str, Any]:
    """The platform's variables and texts, as a caller sends them."""
    content = templates.platform_content(topic_code)
    variables = [
        {
            "name": one.name,
            "type": one.type,
            "maxLength": one.max_length,
            "required": one.required,
            "default": one.default,
            "example": one.example,
        }
        for one in content.variables
    ]
    texts = {
        tag: {to_camel(kind): parts for kind, parts in one.model_dump(exclude_none=True).items()}
        for tag, one in content.texts.items()
    }
    return {"variables": variables, "content": texts}


async def _creating(host: Host, who: Person, organization_id: UUID) -> Sent:
    free = [
        one.code
        for one in templates.topics().values()
        if not one.mandatory and one.code != factory.TOPIC
    ]
    topic_code = random.choice(free)
    await factory.without_template(host, organization_id, topic_code)
    body = filled({"name": "Template *"}) | {"topicCode": topic_code} | _content(topic_code)
    return Sent({}, lambda _: body)


async def _on_template(host: Host, who: Person, organization_id: UUID) -> Sent:
    template_id, _ = await factory.template_with_draft(host, organization_id)
    return Sent({"templateId": template_id})


async def _adding_version(host: Host, who: Person, organization_id: UUID) -> Sent:
    template_id, _ = await factory.template_with_draft(host, organization_id)
    body = _content(factory.TOPIC)
    return Sent({"templateId": template_id}, lambda _: body)


async def _approving(host: Host, who: Person, organization_id: UUID) -> Sent:
    template_id, number = await factory.template_with_draft(host, organization_id)
    return Sent({"templateId": template_id}, parts={"number": str(number)})


async def _preferring(host: Host, who: Person, organization_id: UUID) -> Sent:
    preference_id = recipients.preference_id(organization_id, who.user_id, _RECEIPT)
    work = factory.working(host, organization_id)
    found = await work.find(Preference, id=preference_id)
    await work.close()
    body = {
        "scope": "person",
        "topicCode": _RECEIPT,
        "channels": {"sms": "off" if found and found.channels.get("sms") == "on" else "on"},
    }
    headers = {"If-Match": f'"{found.version if found else 0}"'}
    return Sent({"preferenceId": preference_id}, lambda _: body, headers)


async def _resolving(host: Host, who: Person, organization_id: UUID) -> Sent:
    def body(ids: Ids) -> dict[str, Any]:
        users = {"kind": "users", "userIds": [str(ids["recipient"])]}
        return {"topicCode": _RECEIPT, "audience": [users]}

    return Sent({"recipient": who.user_id}, body)


MAKERS: dict[str, Maker] = {
    "list_preferences": of_person,
    "replace_preference": _preferring,
    "resolve_recipients": _resolving,
    "list_templates": of_person,
    "create_template": _creating,
    "get_template": _on_template,
    "add_template_version": _adding_version,
    "approve_template_version": _approving,
}
