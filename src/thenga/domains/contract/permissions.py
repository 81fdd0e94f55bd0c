"""What one may do in Contract; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

_TENANT = (Audience.TENANT,)

_MANAGERS = ("bid_manager",)
_SIGNERS = ("bid_manager", "approver")
_WORKERS = ("bid_manager", "contributor")
_MONEY = ("bid_manager", "finance_manager")
_BOOKKEEPERS = ("finance_manager",)
_EVERYBODY = (
    "bid_manager",
    "contributor",
    "approver",
    "compliance_officer",
    "finance_manager",
    "viewer",
)


class Permission(StrEnum):
    """Permissions of Contract."""

    AWARD_READ = "contract:award:read"
    WORKSPACE_CREATE = "contract:workspace:create"
    WORKSPACE_READ = "contract:workspace:read"
    WORKSPACE_UPDATE = "contract:workspace:update"
    WORKSPACE_SIGN = "contract:workspace:sign"
    WORKSPACE_GOVERN = "contract:workspace:govern"
    PLAN_READ = "contract:plan:read"
    PLAN_WRITE = "contract:plan:write"
    PLAN_BASELINE = "contract:plan:baseline"
    MILESTONE_READ = "contract:milestone:read"
    MILESTONE_UPDATE = "contract:milestone:update"
    MILESTONE_DECIDE = "contract:milestone:decide"
    DELIVERABLE_UPDATE = "contract:deliverable:update"
    DELIVERABLE_DECIDE = "contract:deliverable:decide"
    COORDINATION_CREATE = "contract:coordination:create"
    COORDINATION_READ = "contract:coordination:read"
    COORDINATION_UPDATE = "contract:coordination:update"
    VARIATION_CREATE = "contract:variation:create"
    VARIATION_READ = "contract:variation:read"
    VARIATION_UPDATE = "contract:variation:update"
    VARIATION_SIGN = "contract:variation:sign"
    INVOICE_CREATE = "contract:invoice:create"
    INVOICE_READ = "contract:invoice:read"
    INVOICE_UPDATE = "contract:invoice:update"
    INVOICE_SUBMIT = "contract:invoice:submit"
    INVOICE_CREDIT = "contract:invoice:credit"
    PAYMENT_RECORD = "contract:payment:record"
    PAYMENT_READ = "contract:payment:read"
    PAYMENT_UPDATE = "contract:payment:update"
    PAYMENT_CONFIRM = "contract:payment:confirm"
    PAYMENT_REVERSE = "contract:payment:reverse"
    MONEY_READ = "contract:money:read"
    RISK_CREATE = "contract:risk:create"
    RISK_READ = "contract:risk:read"
    RISK_UPDATE = "contract:risk:update"
    PERFORMANCE_RECORD = "contract:performance:record"
    PERFORMANCE_READ = "contract:performance:read"
    CLOSEOUT_READ = "contract:closeout:read"
    CLOSEOUT_MANAGE = "contract:closeout:manage"
    CLOSEOUT_COMPLETE = "contract:closeout:complete"
    LESSON_CAPTURE = "contract:lesson:capture"
    LESSON_READ = "contract:lesson:read"
    LESSON_UPDATE = "contract:lesson:update"
    LESSON_PUBLISH = "contract:lesson:publish"


P = Permission


def _reads(code: Permission, title: str) -> Granted:
    return Granted(code, title, _TENANT, _EVERYBODY, while_suspended=True)


def _writes(code: Permission, title: str, roles: tuple[str, ...]) -> Granted:
    return Granted(code, title, _TENANT, roles)


def _decides(code: Permission, title: str, roles: tuple[str, ...]) -> Granted:
    return Granted(code, title, _TENANT, roles, people_only=True)


def _signs(
    code: Permission,
    title: str,
    roles: tuple[str, ...],
    sensitivity: Sensitivity = Sensitivity.SENSITIVE,
) -> Granted:
    return Granted(code, title, _TENANT, roles, sensitivity, people_only=True)


GRANTED = (
    _reads(P.AWARD_READ, "Read awards"),
    _writes(P.WORKSPACE_CREATE, "Open contracts from awards", _MANAGERS),
    _reads(P.WORKSPACE_READ, "Read contracts"),
    _writes(P.WORKSPACE_UPDATE, "Change contracts", _MANAGERS),
    _signs(P.WORKSPACE_SIGN, "Sign and activate contracts", _SIGNERS),
    _signs(P.WORKSPACE_GOVERN, "Suspend, cancel and terminate contracts", _SIGNERS),
    _reads(P.PLAN_READ, "Read delivery plans"),
    _writes(P.PLAN_WRITE, "Write delivery plans", _MANAGERS),
    _decides(P.PLAN_BASELINE, "Baseline delivery plans", _MANAGERS),
    _reads(P.MILESTONE_READ, "Read milestones"),
    _writes(P.MILESTONE_UPDATE, "Track milestones", _WORKERS),
    _decides(P.MILESTONE_DECIDE, "Record decisions on milestones", _MANAGERS),
    _writes(P.DELIVERABLE_UPDATE, "Track deliverables", _WORKERS),
    _decides(P.DELIVERABLE_DECIDE, "Record decisions on deliverables", _MANAGERS),
    _writes(P.COORDINATION_CREATE, "Add packages and matters", _MANAGERS),
    _reads(P.COORDINATION_READ, "Read packages and matters"),
    _writes(P.COORDINATION_UPDATE, "Change packages and matters", _WORKERS),
    _writes(P.VARIATION_CREATE, "Draft variations", _MANAGERS),
    _reads(P.VARIATION_READ, "Read variations"),
    _writes(P.VARIATION_UPDATE, "Change variations", _MANAGERS),
    _signs(P.VARIATION_SIGN, "Sign variations", _SIGNERS),
    _writes(P.INVOICE_CREATE, "Draft invoices", _MONEY),
    _reads(P.INVOICE_READ, "Read invoices of contracts"),
    _writes(P.INVOICE_UPDATE, "Change invoices of contracts", _MONEY),
    _decides(P.INVOICE_SUBMIT, "Submit and approve invoices", _MONEY),
    _signs(P.INVOICE_CREDIT, "Credit and write off invoices", _BOOKKEEPERS, Sensitivity.MONEY),
    _writes(P.PAYMENT_RECORD, "Record payments", _MONEY),
    _reads(P.PAYMENT_READ, "Read payments of contracts"),
    _writes(P.PAYMENT_UPDATE, "Change payments of contracts", _MONEY),
    _decides(P.PAYMENT_CONFIRM, "Confirm payments", _BOOKKEEPERS),
    _signs(P.PAYMENT_REVERSE, "Reverse payments", _BOOKKEEPERS, Sensitivity.MONEY),
    _reads(P.MONEY_READ, "Read the journal of contracts"),
    _writes(P.RISK_CREATE, "Add risks of contracts", _WORKERS),
    _reads(P.RISK_READ, "Read risks of contracts"),
    _writes(P.RISK_UPDATE, "Treat risks of contracts", _WORKERS),
    _writes(P.PERFORMANCE_RECORD, "Record performance", _MANAGERS),
    _reads(P.PERFORMANCE_READ, "Read performance"),
    _reads(P.CLOSEOUT_READ, "Read closeouts"),
    _writes(P.CLOSEOUT_MANAGE, "Manage closeouts", _MANAGERS),
    _signs(P.CLOSEOUT_COMPLETE, "Complete and reopen closeouts", _SIGNERS),
    _writes(P.LESSON_CAPTURE, "Capture lessons", _WORKERS),
    _reads(P.LESSON_READ, "Read lessons"),
    _writes(P.LESSON_UPDATE, "Change lessons", _WORKERS),
    _decides(P.LESSON_PUBLISH, "Publish lessons", _MANAGERS),
)
