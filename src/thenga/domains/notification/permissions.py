"""What one may do in Notification; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted

_TENANT = (Audience.TENANT,)
_STAFF = (Audience.PLATFORM,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)

_EVERYBODY = (
    "bid_manager",
    "contributor",
    "approver",
    "compliance_officer",
    "finance_manager",
    "viewer",
)
_TOLD_STAFF = ("platform_operator", "platform_support")
_SENDERS = ("bid_manager", "compliance_officer", "finance_manager")


class Permission(StrEnum):
    """Permissions of Notification."""

    REQUEST_CREATE = "notification:request:create"
    REQUEST_READ = "notification:request:read"
    NOTIFICATION_READ = "notification:notification:read"
    NOTIFICATION_UPDATE = "notification:notification:update"
    RECIPIENT_RESOLVE = "notification:recipient:resolve"
    PREFERENCE_READ = "notification:preference:read"
    PREFERENCE_UPDATE = "notification:preference:update"
    PREFERENCE_MANAGE = "notification:preference:manage"
    TEMPLATE_READ = "notification:template:read"
    TEMPLATE_CREATE = "notification:template:create"
    TEMPLATE_UPDATE = "notification:template:update"
    TEMPLATE_APPROVE = "notification:template:approve"
    DELIVERY_READ = "notification:delivery:read"
    HISTORY_READ = "notification:history:read"
    CHANNEL_READ = "notification:channel:read"
    SCHEDULE_CREATE = "notification:schedule:create"
    SCHEDULE_READ = "notification:schedule:read"
    SCHEDULE_UPDATE = "notification:schedule:update"
    SCHEDULE_CANCEL = "notification:schedule:cancel"
    REMINDER_CREATE = "notification:reminder:create"
    REMINDER_READ = "notification:reminder:read"
    REMINDER_CANCEL = "notification:reminder:cancel"
    ESCALATION_READ = "notification:escalation:read"
    ESCALATION_RESOLVE = "notification:escalation:resolve"


GRANTED = (
    Granted(Permission.REQUEST_CREATE, "Send messages to members", _TENANT, _SENDERS),
    Granted(Permission.REQUEST_READ, "Read requests and their results", _TENANT, _SENDERS),
    Granted(
        Permission.NOTIFICATION_READ,
        "Read your own messages",
        _BOTH,
        (*_EVERYBODY, *_TOLD_STAFF),
        while_suspended=True,
        people_only=True,
    ),
    Granted(
        Permission.NOTIFICATION_UPDATE,
        "Mark your own messages as read, acknowledged or dismissed",
        _BOTH,
        (*_EVERYBODY, *_TOLD_STAFF),
        while_suspended=True,
        people_only=True,
    ),
    Granted(Permission.RECIPIENT_RESOLVE, "Preview who a message would reach", _TENANT, _SENDERS),
    Granted(
        Permission.PREFERENCE_READ,
        "Read notification preferences",
        _TENANT,
        _EVERYBODY,
        while_suspended=True,
        people_only=True,
    ),
    Granted(
        Permission.PREFERENCE_UPDATE,
        "Change your own notification preferences",
        _TENANT,
        _EVERYBODY,
        while_suspended=True,
        people_only=True,
    ),
    Granted(
        Permission.PREFERENCE_MANAGE,
        "Set the notification defaults of all members",
        _TENANT,
        people_only=True,
    ),
    Granted(Permission.TEMPLATE_READ, "Read templates", _TENANT, _SENDERS),
    Granted(Permission.TEMPLATE_CREATE, "Create templates", _TENANT, _SENDERS, people_only=True),
    Granted(
        Permission.TEMPLATE_UPDATE, "Add versions of templates", _TENANT, _SENDERS, people_only=True
    ),
    Granted(
        Permission.TEMPLATE_APPROVE,
        "Approve templates that someone else wrote",
        _TENANT,
        ("compliance_officer",),
        people_only=True,
    ),
    Granted(
        Permission.DELIVERY_READ,
        "Read how your own messages were delivered",
        _TENANT,
        _EVERYBODY,
        while_suspended=True,
        people_only=True,
    ),
    Granted(
        Permission.HISTORY_READ,
        "Read the history of all messages",
        _TENANT,
        ("compliance_officer",),
        while_suspended=True,
    ),
    Granted(
        Permission.CHANNEL_READ, "Read the platform's channels", _STAFF, ("platform_operator",)
    ),
    Granted(Permission.SCHEDULE_CREATE, "Schedule messages to members", _TENANT, _SENDERS),
    Granted(Permission.SCHEDULE_READ, "Read schedules", _TENANT, _SENDERS),
    Granted(Permission.SCHEDULE_UPDATE, "Change schedules", _TENANT, _SENDERS),
    Granted(Permission.SCHEDULE_CANCEL, "Cancel schedules", _TENANT, _SENDERS),
    Granted(Permission.REMINDER_CREATE, "Create reminders before a deadline", _TENANT, _SENDERS),
    Granted(Permission.REMINDER_READ, "Read reminders", _TENANT, _SENDERS),
    Granted(Permission.REMINDER_CANCEL, "Cancel reminders", _TENANT, _SENDERS),
    Granted(
        Permission.ESCALATION_READ,
        "Read escalations",
        _BOTH,
        (*_SENDERS, "approver", "platform_operator"),
    ),
    Granted(
        Permission.ESCALATION_RESOLVE,
        "Resolve escalations",
        _BOTH,
        (*_SENDERS, "approver", "platform_operator"),
    ),
)
