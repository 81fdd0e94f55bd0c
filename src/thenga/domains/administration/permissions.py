"""The permissions of Administration, with the roles that get each by default."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

_STAFF = (Audience.PLATFORM,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)
SENSITIVE = Sensitivity.SENSITIVE  # asks for a fresh proof (ADM-4)

_OPERATORS = ("platform_operator",)
_SUPPORT = ("platform_operator", "platform_support")
_AUDITORS = ("platform_auditor",)
_AUTHORS = ("platform_policy_author",)
_APPROVERS = ("platform_policy_approver",)
_READERS = ("platform_operator", "platform_security", "platform_auditor")
_EVERY_STAFF = (*_READERS, "platform_support")
_MEMBERS = (
    *("bid_manager", "contributor", "approver", "compliance_officer", "finance_manager", "viewer"),
)


class Permission(StrEnum):
    """Permissions of Administration."""

    CONFIGURATION_READ = "administration:configuration:read"
    CONFIGURATION_CREATE = "administration:configuration:create"
    CONFIGURATION_APPROVE = "administration:configuration:approve"
    FEATURE_FLAG_READ = "administration:feature_flag:read"
    FEATURE_FLAG_CREATE = "administration:feature_flag:create"
    FEATURE_FLAG_ROLLOUT = "administration:feature_flag:rollout"
    SUPPORT_CASE_CREATE = "administration:support_case:create"
    SUPPORT_CASE_READ = "administration:support_case:read"
    SUPPORT_CASE_UPDATE = "administration:support_case:update"
    SUPPORT_CASE_MESSAGE = "administration:support_case:message"
    SUPPORT_CASE_TRIAGE = "administration:support_case:triage"
    SUPPORT_CASE_RESOLVE = "administration:support_case:resolve"
    TENANT_READ = "administration:tenant:read"
    AUDIT_REVIEW_READ = "administration:audit_review:read"
    AUDIT_REVIEW_OPEN = "administration:audit_review:open"
    AUDIT_REVIEW_RECORD_FINDING = "administration:audit_review:record_finding"
    AUDIT_REVIEW_REVIEW = "administration:audit_review:review"
    AUDIT_REVIEW_CLOSE = "administration:audit_review:close"
    FINDING_READ = "administration:finding:read"
    FINDING_VERIFY = "administration:finding:verify"
    GOVERNANCE_DECISION_READ = "administration:governance_decision:read"
    GOVERNANCE_DECISION_RECORD = "administration:governance_decision:record"
    POLICY_CONFIGURATION_READ = "administration:policy_configuration:read"
    POLICY_CONFIGURATION_CREATE = "administration:policy_configuration:create"
    POLICY_CONFIGURATION_SUBMIT = "administration:policy_configuration:submit"
    POLICY_CONFIGURATION_APPROVE = "administration:policy_configuration:approve"
    INTEGRATION_CONFIGURATION_READ = "administration:integration_configuration:read"
    INTEGRATION_CONFIGURATION_CREATE = "administration:integration_configuration:create"
    INTEGRATION_CONFIGURATION_UPDATE = "administration:integration_configuration:update"
    INTEGRATION_CONFIGURATION_OPERATE = "administration:integration_configuration:operate"
    INTEGRATION_CONFIGURATION_SET_SECRET = "administration:integration_configuration:set_secret"  # noqa: S105  # the name of an action
    DASHBOARD_READ = "administration:dashboard:read"
    ADMIN_ACTION_READ = "administration:admin_action:read"


def _reads(code: Permission, title: str, roles: tuple[str, ...] = _READERS) -> Granted:
    return Granted(code, title, _STAFF, roles, people_only=True)


def _does(
    code: Permission,
    title: str,
    roles: tuple[str, ...] = _OPERATORS,
    sensitivity: Sensitivity = Sensitivity.NORMAL,
) -> Granted:
    return Granted(code, title, _STAFF, roles, sensitivity, people_only=True)


def _helps(code: Permission, title: str) -> Granted:
    # A customer who is suspended or has not paid can still be helped (ADM-1). Cases and messages
    # name the person who wrote them, so a key only reads.
    writes = code is not Permission.SUPPORT_CASE_READ
    roles = (*_MEMBERS, *_SUPPORT)
    return Granted(code, title, _BOTH, roles, while_suspended=True, people_only=writes)


GRANTED = (
    _reads(Permission.CONFIGURATION_READ, "Read settings", _EVERY_STAFF),
    _does(Permission.CONFIGURATION_CREATE, "Change settings"),
    _does(
        Permission.CONFIGURATION_APPROVE,
        "Approve changes of settings",
        (*_OPERATORS, "platform_security"),
        SENSITIVE,
    ),
    _reads(Permission.FEATURE_FLAG_READ, "Read feature flags", _EVERY_STAFF),
    _does(Permission.FEATURE_FLAG_CREATE, "Create feature flags"),
    _does(Permission.FEATURE_FLAG_ROLLOUT, "Roll out feature flags"),
    _helps(Permission.SUPPORT_CASE_CREATE, "Open support cases"),
    _helps(Permission.SUPPORT_CASE_READ, "Read support cases"),
    _helps(Permission.SUPPORT_CASE_UPDATE, "Change support cases"),
    _helps(Permission.SUPPORT_CASE_MESSAGE, "Read and write messages of support cases"),
    _does(Permission.SUPPORT_CASE_TRIAGE, "Triage support cases", _SUPPORT),
    _does(Permission.SUPPORT_CASE_RESOLVE, "Resolve support cases", _SUPPORT),
    Granted(
        Permission.TENANT_READ,
        "See the state of an organization",
        _STAFF,
        _SUPPORT,
        SENSITIVE,
        people_only=True,
    ),
    _reads(Permission.AUDIT_REVIEW_READ, "Read audit reviews"),
    _does(Permission.AUDIT_REVIEW_OPEN, "Open audit reviews", _AUDITORS),
    _does(Permission.AUDIT_REVIEW_RECORD_FINDING, "Record findings", _AUDITORS),
    _does(Permission.AUDIT_REVIEW_REVIEW, "Submit an audit review", _AUDITORS),
    _does(Permission.AUDIT_REVIEW_CLOSE, "Close audit reviews", _AUDITORS),
    _reads(Permission.FINDING_READ, "Read findings"),
    _does(Permission.FINDING_VERIFY, "Verify that a finding is resolved", _AUDITORS),
    _reads(Permission.GOVERNANCE_DECISION_READ, "Read governance decisions", _EVERY_STAFF),
    _does(Permission.GOVERNANCE_DECISION_RECORD, "Record governance decisions"),
    _reads(
        Permission.POLICY_CONFIGURATION_READ,
        "Read policies",
        (*_READERS, *_AUTHORS, *_APPROVERS),
    ),
    _does(Permission.POLICY_CONFIGURATION_CREATE, "Write policies", _AUTHORS),
    _does(Permission.POLICY_CONFIGURATION_SUBMIT, "Withdraw own policies", _AUTHORS),
    _does(
        Permission.POLICY_CONFIGURATION_APPROVE,
        "Approve and reject policies",
        _APPROVERS,
        SENSITIVE,
    ),
    _reads(Permission.INTEGRATION_CONFIGURATION_READ, "Read integrations"),
    _does(
        Permission.INTEGRATION_CONFIGURATION_CREATE,
        "Create integrations",
        sensitivity=SENSITIVE,
    ),
    _does(Permission.INTEGRATION_CONFIGURATION_UPDATE, "Change settings of integrations"),
    _does(Permission.INTEGRATION_CONFIGURATION_OPERATE, "Activate and pause integrations"),
    _does(
        Permission.INTEGRATION_CONFIGURATION_SET_SECRET,
        "Set secrets of integrations",
        sensitivity=SENSITIVE,
    ),
    _reads(Permission.DASHBOARD_READ, "Read dashboards", _EVERY_STAFF),
    _reads(
        Permission.ADMIN_ACTION_READ,
        "Read the record of staff actions",
        ("platform_security", "platform_auditor"),
    ),
)
