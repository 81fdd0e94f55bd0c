"""The permissions of Billing, with the roles that get each by default."""

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
    ACCOUNT_UNPARK = "billing:account:unpark"
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
    # Billing stays available while an organization is suspended, so that it can pay.
    return Granted(code, title, _BOTH, roles, while_suspended=True)


def _buys(code: Permission, title: str) -> Granted:
    return Granted(code, title, _OURS, _BUYERS, Sensitivity.MONEY, while_suspended=True)


def _pays(code: Permission, title: str) -> Granted:
    # Only operators pay for a parked account (BIL-51).
    return Granted(code, title, _BOTH, _KEEPERS, Sensitivity.MONEY, while_suspended=True)


def _operates(code: Permission, title: str, sensitivity: Sensitivity) -> Granted:
    return Granted(code, title, _STAFF, _OPERATORS, sensitivity)


# Giving money away or changing prices requires a fresh verification.
MONEY, SENSITIVE = Sensitivity.MONEY, Sensitivity.SENSITIVE

GRANTED = (
    _buys(Permission.ACCOUNT_CREATE, "Open the billing account"),
    _reads(Permission.ACCOUNT_READ, "Read the billing account"),
    Granted(
        Permission.ACCOUNT_UPDATE,
        "Change the billing details",
        _BOTH,
        _KEEPERS,
        MONEY,
        while_suspended=True,
    ),
    _operates(Permission.ACCOUNT_UNPARK, "Let a parked account go on", MONEY),
    _operates(Permission.ACCOUNT_CLOSE, "Close the billing account", SENSITIVE),
    _buys(Permission.PAYMENT_METHOD_MANAGE, "Manage payment methods"),
    Granted(
        Permission.PLAN_READ, "Read plans and prices", _ANYBODY, _EVERYBODY, while_suspended=True
    ),
    _operates(Permission.PLAN_MANAGE, "Draft plans and prices", MONEY),
    _operates(Permission.PLAN_PUBLISH, "Publish and retire plans", SENSITIVE),
    _reads(Permission.SUBSCRIPTION_READ, "Read subscriptions"),
    _buys(Permission.SUBSCRIPTION_CREATE, "Buy a plan"),
    _buys(Permission.SUBSCRIPTION_CHANGE, "Change, pause and resume a plan"),
    _buys(Permission.SUBSCRIPTION_CANCEL, "Cancel a plan"),
    _reads(Permission.CANCELLATION_READ, "Read cancellations"),
    _buys(Permission.CANCELLATION_UNDO, "Undo a cancellation"),
    _reads(Permission.RENEWAL_READ, "Read renewals"),
    _buys(Permission.TRIAL_CREATE, "Start the trial"),
    _reads(Permission.TRIAL_READ, "Read the trial"),
    _buys(Permission.TRIAL_CONVERT, "Buy the plan of a trial"),
    _buys(Permission.TRIAL_CANCEL, "End the trial"),
    _reads(Permission.ENTITLEMENT_READ, "Read entitlements", _EVERYBODY),
    _operates(Permission.GRANT_MANAGE, "Grant entitlements as goodwill", SENSITIVE),
    Granted(Permission.USAGE_RECORD, "Report usage", _REPORTERS, _OPERATORS, MONEY),
    _reads(Permission.USAGE_READ, "Read meters and usage"),
    _reads(Permission.INVOICE_READ, "Read invoices and credit notes"),
    _operates(Permission.INVOICE_WRITE_OFF, "Write off an invoice", SENSITIVE),
    _operates(Permission.CREDIT_NOTE_ISSUE, "Issue a credit note", SENSITIVE),
    _pays(Permission.PAYMENT_CREATE, "Pay invoices"),
    _reads(Permission.PAYMENT_READ, "Read payments and refunds"),
    _operates(Permission.PAYMENT_REFUND, "Refund payments", SENSITIVE),
    _operates(Permission.PAYMENT_CONFIRM, "Confirm bank transfers", SENSITIVE),
    _reads(Permission.PAYMENT_FAILURE_READ, "Read failed payments"),
    _pays(Permission.PAYMENT_FAILURE_RETRY, "Retry a failed payment"),
    Granted(Permission.CALLBACK_READ, "Read provider callbacks", _STAFF, _AUDITORS),
    _operates(Permission.CALLBACK_REPLAY, "Replay a provider callback", MONEY),
    Granted(
        Permission.TEST_CLOCK_ADVANCE,
        "Advance the test clock of a sandbox",
        _OURS,
        while_suspended=True,
    ),
    _reads(Permission.LEDGER_READ, "Read the journal"),
    Granted(Permission.LEDGER_AUDIT, "Read the nightly ledger checks", _STAFF, _AUDITORS),
)
