"""What one may do in Billing; roles that hold these are Identity's data.

The whole list of the domain stands here, so that who may do what was decided once.
"""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

_OURS = (Audience.TENANT,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)
_STAFF = (Audience.PLATFORM,)
_REPORTERS = (Audience.SERVICE, Audience.PLATFORM, Audience.SANDBOX)
_ANYBODY = (Audience.PERSON, *_BOTH)

_EVERYBODY = (
    *("bid_manager", "contributor", "approver", "compliance_officer", "finance_manager", "viewer"),
    *("platform_operator", "platform_support", "platform_auditor"),
)
_READERS = (
    *("finance_manager", "viewer", "platform_operator", "platform_support", "platform_auditor"),
)
_KEEPERS = ("finance_manager", "platform_operator")
_BUYERS = ("finance_manager",)
_OPERATORS = ("platform_operator",)
_AUDITORS = ("platform_operator", "platform_auditor")


class Permission(StrEnum):
    """Permissions of Billing."""

    ACCOUNT_CREATE = "billing:account:create"
    ACCOUNT_READ = "billing:account:read"
    ACCOUNT_UPDATE = "billing:account:update"
    ACCOUNT_CLOSE = "billing:account:close"
    PAYMENT_METHOD_MANAGE = "billing:payment_method:manage"
    PLAN_READ = "billing:plan:read"
    PLAN_MANAGE = "billing:plan:manage"
    PLAN_PUBLISH = "billing:plan:publish"
    SUBSCRIPTION_READ = "billing:subscription:read"
    SUBSCRIPTION_CREATE = "billing:subscription:create"
    SUBSCRIPTION_CHANGE = "billing:subscription:change"
    SUBSCRIPTION_CANCEL = "billing:subscription:cancel"
    CANCELLATION_READ = "billing:cancellation:read"
    CANCELLATION_UNDO = "billing:cancellation:undo"
    RENEWAL_READ = "billing:renewal:read"
    TRIAL_CREATE = "billing:trial:create"
    TRIAL_READ = "billing:trial:read"
    TRIAL_CONVERT = "billing:trial:convert"
    TRIAL_CANCEL = "billing:trial:cancel"
    ENTITLEMENT_READ = "billing:entitlement:read"
    GRANT_MANAGE = "billing:grant:manage"
    USAGE_RECORD = "billing:usage:record"
    USAGE_READ = "billing:usage:read"
    INVOICE_READ = "billing:invoice:read"
    INVOICE_WRITE_OFF = "billing:invoice:write_off"
    CREDIT_NOTE_ISSUE = "billing:credit_note:issue"
    PAYMENT_CREATE = "billing:payment:create"
    PAYMENT_READ = "billing:payment:read"
    PAYMENT_REFUND = "billing:payment:refund"
    PAYMENT_CONFIRM = "billing:payment:confirm"
    PAYMENT_FAILURE_READ = "billing:payment_failure:read"
    PAYMENT_FAILURE_RETRY = "billing:payment_failure:retry"
    CALLBACK_READ = "billing:callback:read"
    CALLBACK_REPLAY = "billing:callback:replay"
    TEST_CLOCK_ADVANCE = "billing:test_clock:advance"
    LEDGER_READ = "billing:ledger:read"
    LEDGER_AUDIT = "billing:ledger:audit"


def _reads(code: Permission, title: str, roles: tuple[str, ...] = _READERS) -> Granted:
    # Billing stays open while an organization is suspended: how else would it be paid?
    return Granted(code, title, _BOTH, roles, while_suspended=True)


def _buys(code: Permission, title: str) -> Granted:
    return Granted(code, title, _OURS, _BUYERS, Sensitivity.MONEY, while_suspended=True)


def _pays(code: Permission, title: str) -> Granted:
    # For a parked account operators pay, and nobody else does (BIL-51).
    return Granted(code, title, _BOTH, _KEEPERS, Sensitivity.MONEY, while_suspended=True)


def _operates(code: Permission, title: str, sensitivity: Sensitivity) -> Granted:
    return Granted(code, title, _STAFF, _OPERATORS, sensitivity)


# What gives money away or changes what everybody pays asks for a fresh proof (security rule 36).
MONEY, SENSITIVE = Sensitivity.MONEY, Sensitivity.SENSITIVE

GRANTED = (
    _buys(Permission.ACCOUNT_CREATE, "Open the billing account"),
    _reads(Permission.ACCOUNT_READ, "Read the billing account"),
    Granted(
        Permission.ACCOUNT_UPDATE,
        "Change who is billed",
        _BOTH,
        _KEEPERS,
        MONEY,
        while_suspended=True,
    ),
    _operates(Permission.ACCOUNT_CLOSE, "Close the billing account", SENSITIVE),
    _buys(Permission.PAYMENT_METHOD_MANAGE, "Keep the ways to pay"),
    Granted(
        Permission.PLAN_READ, "Read plans and prices", _ANYBODY, _EVERYBODY, while_suspended=True
    ),
    _operates(Permission.PLAN_MANAGE, "Write plans and prices", MONEY),
    _operates(Permission.PLAN_PUBLISH, "Publish and retire plans", SENSITIVE),
    _reads(Permission.SUBSCRIPTION_READ, "Read the subscriptions"),
    _buys(Permission.SUBSCRIPTION_CREATE, "Buy a plan"),
    _buys(Permission.SUBSCRIPTION_CHANGE, "Change, pause and resume a plan"),
    _buys(Permission.SUBSCRIPTION_CANCEL, "Cancel a plan"),
    _reads(Permission.CANCELLATION_READ, "Read the cancellations"),
    _buys(Permission.CANCELLATION_UNDO, "Undo a cancellation"),
    _reads(Permission.RENEWAL_READ, "Read what is renewed next"),
    _buys(Permission.TRIAL_CREATE, "Begin the trial"),
    _reads(Permission.TRIAL_READ, "Read the trial"),
    _buys(Permission.TRIAL_CONVERT, "Buy what was tried"),
    _buys(Permission.TRIAL_CANCEL, "End the trial"),
    _reads(Permission.ENTITLEMENT_READ, "Read what the plan includes", _EVERYBODY),
    _operates(Permission.GRANT_MANAGE, "Give entitlements as goodwill", SENSITIVE),
    Granted(Permission.USAGE_RECORD, "Report usage", _REPORTERS, _OPERATORS, MONEY),
    _reads(Permission.USAGE_READ, "Read meters and usage"),
    _reads(Permission.INVOICE_READ, "Read invoices and credit notes"),
    _operates(Permission.INVOICE_WRITE_OFF, "Write an invoice off", SENSITIVE),
    _operates(Permission.CREDIT_NOTE_ISSUE, "Issue a credit note", SENSITIVE),
    _pays(Permission.PAYMENT_CREATE, "Pay"),
    _reads(Permission.PAYMENT_READ, "Read payments and refunds"),
    _operates(Permission.PAYMENT_REFUND, "Pay money back", SENSITIVE),
    _operates(Permission.PAYMENT_CONFIRM, "Confirm money on the bank account", SENSITIVE),
    _reads(Permission.PAYMENT_FAILURE_READ, "Read failed payments"),
    _pays(Permission.PAYMENT_FAILURE_RETRY, "Try a failed payment again"),
    Granted(Permission.CALLBACK_READ, "Read what providers said", _STAFF, _AUDITORS),
    _operates(Permission.CALLBACK_REPLAY, "Work a callback again", MONEY),
    Granted(
        Permission.TEST_CLOCK_ADVANCE, "Move the clock of a sandbox", _OURS, while_suspended=True
    ),
    _reads(Permission.LEDGER_READ, "Read the journal"),
    Granted(Permission.LEDGER_AUDIT, "Read the checks of all books", _STAFF, _AUDITORS),
)
