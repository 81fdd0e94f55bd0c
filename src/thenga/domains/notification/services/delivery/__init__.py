"""Delivery: sending by SMTP, SMS and in the app; attempts, reports of providers, fallback."""

from thenga.domains.notification.services.delivery.callbacks import (
    Received,
    apply_callback,
    apply_report,
    delete_old,
    match_callbacks,
    receive_callback,
    retry_of_message,
    retry_unmatched,
    waiting_callback,
)
from thenga.domains.notification.services.delivery.channels import (
    DeployedChannel,
    callback_url,
    deployed,
    list_channels,
    seed,
)
from thenga.domains.notification.services.delivery.endings import suppress_address
from thenga.domains.notification.services.delivery.metering import meter_attempt, usage_of
from thenga.domains.notification.services.delivery.reading import (
    Delivered,
    DeliveriesOf,
    deliveries_of,
)
from thenga.domains.notification.services.delivery.sending import (
    Order,
    begin,
    claimed,
    postpone,
    record,
    run_due_step,
    send_delivery,
)
from thenga.domains.notification.services.delivery.suppressing import suppress_bounced

__all__ = [
    "Delivered",
    "DeliveriesOf",
    "DeployedChannel",
    "Order",
    "Received",
    "apply_callback",
    "apply_report",
    "begin",
    "callback_url",
    "claimed",
    "delete_old",
    "deliveries_of",
    "deployed",
    "list_channels",
    "match_callbacks",
    "meter_attempt",
    "postpone",
    "receive_callback",
    "record",
    "retry_of_message",
    "retry_unmatched",
    "run_due_step",
    "seed",
    "send_delivery",
    "suppress_address",
    "suppress_bounced",
    "usage_of",
    "waiting_callback",
]
