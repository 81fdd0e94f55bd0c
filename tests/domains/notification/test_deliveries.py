"""How a message was delivered, as its recipient, a reader of the history and others see it."""

from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import identity
from tests.factories.notification_deliveries import Post
from tests.providers.messaging import EMAIL, SMS, MailServer

from thenga.kernel.process.host import Host


@pytest.fixture
def post(host: Host, seeded: None, clock: Time) -> Post:
    return Post(host, clock)


@pytest.mark.rule("NOT-42")
async def test_a_recipient_sees_no_text_of_the_provider(
    api: httpx2.AsyncClient, post: Post, relay: MailServer
) -> None:
    who = await post.member()
    about = await post.message(who.user_id, "email")
    await post.settle()

    answer = await api.get(f"/notifications/{about.id}/deliveries", headers=who.acting)

    (shown,) = answer.json()["items"]
    (attempt,) = shown["attempts"]
    assert (answer.status_code, shown["status"], shown["channelKind"]) == (200, "sent", "email")
    assert shown["addressMask"] == f"{str(who.user_id)[:2]}***@example.test"
    assert (attempt["outcome"], attempt["providerText"]) == ("accepted", None)
    assert (attempt["providerCode"], attempt["providerMessageId"]) == (None, None)
    assert [one["outcome"] for one in shown["decisions"]].count("pass") == len(shown["decisions"])


@pytest.mark.rule("NOT-42")
async def test_a_reader_of_the_history_sees_the_provider(
    api: httpx2.AsyncClient, post: Post, relay: MailServer
) -> None:
    who = await post.member()
    about = await post.message(who.user_id, "email")
    await post.settle()
    organization_id = post.organization_id
    officer = await identity.member(post.host, organization_id, role="compliance_officer")
    viewer = await identity.member(post.host, organization_id, role="viewer")
    path = f"/notifications/{about.id}/deliveries"

    answer = await api.get(path, headers=officer.acting)
    refused = await api.get(path, headers=viewer.acting)

    (attempt,) = answer.json()["items"][0]["attempts"]
    assert (answer.status_code, attempt["providerText"]) == (200, "2.0.0 Queued")
    assert (refused.status_code, refused.json()["code"]) == (403, "notification-not-recipient")


async def test_deliveries_of_others_are_not_found(
    api: httpx2.AsyncClient, post: Post, relay: MailServer
) -> None:
    who = await post.member()
    about = await post.message(who.user_id, "email")
    stranger = await identity.member(post.host, uuid4(), role="owner")

    foreign = await api.get(f"/notifications/{about.id}/deliveries", headers=stranger.acting)
    missing = await api.get(f"/notifications/{uuid4()}/deliveries", headers=stranger.acting)

    assert (foreign.status_code, missing.status_code) == (404, 404)
    hidden = ("requestId", "instance")
    shown = [{k: v for k, v in one.json().items() if k not in hidden} for one in (foreign, missing)]
    assert shown[0] == shown[1]


async def test_operators_see_channels_with_their_callback_url(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    operator = await identity.staff(host, "platform_operator")
    member = await identity.member(host, uuid4(), role="owner")

    answer = await api.get("/notifications/channels", headers=operator.headers)
    refused = await api.get("/notifications/channels", headers=member.acting)

    shown = {one["code"]: one["callbackUrl"] for one in answer.json()["items"]}
    assert (answer.status_code, refused.status_code) == (200, 403)
    assert shown["platform.in_app"] is None
    assert shown["platform.email"].endswith(f"/v1/notifications/channels/{EMAIL}/callbacks")
    assert shown["platform.sms"].endswith(f"/v1/notifications/channels/{SMS}/callbacks")
