"""Messages that were sent, what their providers report, and forgeries of it."""

from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlencode

import httpx2

from tests.factories import notification_deliveries as factory
from tests.factories.notification_deliveries import FAILED, Post
from tests.providers import messaging
from tests.providers.messaging import EMAIL, SMS, Sent, TwilioServer
from thenga.domains.notification.services.delivery import callbacks, channels
from thenga.domains.notification.tables import Notification
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


def url_of(host: Host) -> str:
    return channels.callback_url(host, next(one for one in channels.deployed() if str(one) == SMS))


async def deliver(api: httpx2.AsyncClient, sent: Sent) -> httpx2.Response:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in sent.headers]
    return await api.post(sent.path, content=sent.body, headers=headers)


async def texted(post: Post, provider: TwilioServer) -> tuple[Notification, str, str]:
    """A sent SMS: the message, the provider's ID and the number."""
    number = factory.number()
    who = await post.member(phone=number)
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    await post.settle()
    return about, provider.sids[-1], number


async def mailed(post: Post) -> tuple[Notification, str, str]:
    """A sent mail: the message, its ID and the address."""
    who = await post.member()
    about = await post.message(who.user_id, "email")
    await post.settle()
    sent = await post.delivery(about, "email")
    return about, f"{sent.id}@thenga.example", f"{who.user_id}@example.test"


async def work_off(post: Post) -> None:
    """Apply what was received, as the system's own jobs do."""
    timeline = replace(post.timeline, organization_id="", undone=("meter_attempt",))
    post.worker.clock = post.host.clock
    for domain in timeline.domains:
        while True:
            async with timeline._connection(domain) as link:
                taken = await link.fetchrow(
                    "UPDATE notification.procrastinate_jobs SET status = 'doing', worker_id = $1 "
                    "WHERE id = (SELECT id FROM notification.procrastinate_jobs "
                    "WHERE status = 'todo' AND args ->> 'organization_id' IS NULL "
                    "ORDER BY id LIMIT 1) RETURNING id, task_name, attempts, args",
                    await timeline._worker_id(link, domain),
                )
            if taken is None:
                break
            await timeline._do(domain, taken)
            async with timeline._connection(domain) as link:
                await link.execute(
                    "DELETE FROM notification.procrastinate_jobs WHERE id = $1", taken["id"]
                )
    await post.settle()


async def sweep(post: Post) -> None:
    """What the periodic job does with reports that wait."""
    post.worker.clock = post.host.clock
    scope, origin = factory.Scope(factory.SYSTEM), factory._ORIGIN
    work = Work(post.worker, "notification", scope, origin, login="notification_system")
    await callbacks.retry_unmatched(work)
    await work.finish()
    await work_off(post)


def _signed_again(sent: Sent, **changes: str) -> Sent:
    fields = dict(parse_qsl(sent.body.decode())) | changes
    return replace(sent, body=urlencode(fields).encode())


def _header(sent: Sent, value: str) -> Sent:
    return replace(sent, headers=(("x-twilio-signature", value), *sent.headers[1:]))


def twilio_forgeries(url: str, sid: str, number: str) -> dict[str, Sent]:
    true = messaging.twilio(url, sid, "delivered", number)
    signature = true.headers[0][1]
    return {
        "one field changed": _signed_again(true, MessageStatus="failed"),
        "one field more": replace(true, body=true.body + b"&Extra=1"),
        "one field twice": replace(true, body=true.body + b"&To=%2B27820000000"),
        "another token": messaging.twilio(url, sid, "delivered", number, token="a-stranger"),
        "another address": messaging.twilio(url + "?x", sid, "delivered", number),
        "host of the request": messaging.twilio(
            f"http://thenga.test/v1/notifications/channels/{SMS}/callbacks", sid, "sent", number
        ),
        "no signature": replace(true, headers=true.headers[1:]),
        "two signatures": replace(true, headers=(true.headers[0], *true.headers)),
        "not ASCII": _header(true, signature[:-1] + "ä"),
        "empty signature": _header(true, ""),
        "no body": replace(true, body=b""),
        "another channel": replace(true, channel=EMAIL),
    }


def mailgun_forgeries(message_id: str, address: str, at: datetime) -> dict[str, Sent]:
    true = messaging.mailgun(message_id, "failed", address, at=at)
    old, key = at - timedelta(seconds=301), "a-stranger"
    return {
        "another key": messaging.mailgun(message_id, "failed", address, at=at, key=key),
        "too old": messaging.mailgun(message_id, "failed", address, at=old),
        "token changed": replace(true, body=true.body.replace(b'"token": "', b'"token": "0')),
        "not JSON": replace(true, body=b"failed"),
        "a name twice": replace(true, body=true.body.replace(b"{", b'{"signature": {}, ', 1)),
    }
