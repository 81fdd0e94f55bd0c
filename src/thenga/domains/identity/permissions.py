"""What one may do in Identity; roles that hold these are data (IDN-24)."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

PERSON, TENANT, PLATFORM = Audience.PERSON, Audience.TENANT, Audience.PLATFORM
SERVICE = Audience.SERVICE
GRAVE = Sensitivity.SENSITIVE  # asks for a fresh proof (IDN-15)
_ALL = ("bid_manager", "contributor", "approver", "compliance_officer", "finance_manager", "viewer")
_API = "identity.api_access"
_AUDITORS = ("platform_security", "platform_auditor")
_LOOKING = ("platform_operator", "platform_support", *_AUDITORS)


class Permission(StrEnum):
    """Permissions of Identity."""

    ADDRESS_CHANGE = "identity:address:change"
    API_KEY_CREATE = "identity:api_key:create"
    API_KEY_READ = "identity:api_key:read"
    API_KEY_REVOKE = "identity:api_key:revoke"
    API_KEY_ROTATE = "identity:api_key:rotate"
    AUDIT_EVENT_READ = "identity:audit_event:read"
    CHALLENGE_USE = "identity:challenge:use"
    DECISION_CHECK = "identity:decision:check"
    DECISION_INSPECT = "identity:decision:inspect"
    DEVICE_MANAGE = "identity:device:manage"
    EXTERNAL_IDENTITY_MANAGE = "identity:external_identity:manage"
    FACTOR_MANAGE = "identity:factor:manage"
    FACTOR_READ = "identity:factor:read"
    INVITATION_CREATE = "identity:invitation:create"
    INVITATION_READ = "identity:invitation:read"
    INVITATION_REVOKE = "identity:invitation:revoke"
    MEMBERSHIP_ANSWER = "identity:membership:answer"
    MEMBERSHIP_CREATE = "identity:membership:create"
    MEMBERSHIP_MANAGE = "identity:membership:manage"
    MEMBERSHIP_READ = "identity:membership:read"
    PASSWORD_CHANGE = "identity:password:change"  # noqa: S105  # the name of an action
    PERMISSION_ASSIGNMENT_MANAGE = "identity:permission_assignment:manage"
    PERMISSION_ASSIGNMENT_READ = "identity:permission_assignment:read"
    PERMISSION_READ = "identity:permission:read"
    PROOF_RENEW = "identity:proof:renew"
    ROLE_ASSIGNMENT_MANAGE = "identity:role_assignment:manage"
    ROLE_ASSIGNMENT_READ = "identity:role_assignment:read"
    ROLE_MANAGE = "identity:role:manage"
    ROLE_READ = "identity:role:read"
    SESSION_READ = "identity:session:read"
    SESSION_REVOKE = "identity:session:revoke"
    SESSION_SIGN_OUT = "identity:session:sign_out"
    SESSION_SWITCH = "identity:session:switch"
    USER_CREATE = "identity:user:create"
    USER_DISABLE = "identity:user:disable"
    USER_ENABLE = "identity:user:enable"
    USER_LIST = "identity:user:list"
    USER_READ = "identity:user:read"
    USER_UNLOCK = "identity:user:unlock"
    USER_UPDATE = "identity:user:update"


# What a person does with their own account works in every state of every organization.
_MEMBERS = ("bid_manager", "contributor", "approver", "compliance_officer", "finance_manager")
_STAFF = ("platform_operator", "platform_support", "platform_security", "platform_auditor")
_GRAVE = Sensitivity.SENSITIVE


def _own(code: Permission, title: str, grave: Sensitivity = Sensitivity.NORMAL) -> Granted:
    return Granted(code, title, (PERSON,), sensitivity=grave, while_suspended=True)


def _by_security(code: Permission, title: str) -> Granted:
    return Granted(code, title, (PLATFORM,), ("platform_security",), sensitivity=_GRAVE)


PEOPLE = (
    _own(Permission.ADDRESS_CHANGE, "Change the address one signs in with", _GRAVE),
    Granted(
        Permission.CHALLENGE_USE,
        "Answer with a second factor",
        (PERSON,),
        while_suspended=True,
        half=True,
    ),
    _own(Permission.DEVICE_MANAGE, "See and forget one's devices"),
    _own(Permission.EXTERNAL_IDENTITY_MANAGE, "Link and unlink identity providers"),
    _own(Permission.FACTOR_MANAGE, "Turn second factors on and off"),
    _own(Permission.FACTOR_READ, "See one's second factors"),
    _own(Permission.PASSWORD_CHANGE, "Change one's password", _GRAVE),
    _own(Permission.PROOF_RENEW, "Prove again who one is"),
    Granted(
        Permission.SESSION_READ,
        "See where people are signed in",
        (PERSON, TENANT, PLATFORM),
        _STAFF,
        while_suspended=True,
        closed_to_keys=True,
    ),
    Granted(
        Permission.SESSION_REVOKE,
        "End a session",
        (PERSON, TENANT, PLATFORM),
        ("platform_security",),
        while_suspended=True,
        closed_to_keys=True,
    ),
    Granted(Permission.SESSION_SIGN_OUT, "Sign out", (PERSON,), while_suspended=True, half=True),
    _own(Permission.SESSION_SWITCH, "Work for another of one's organizations"),
    _by_security(Permission.USER_CREATE, "Make an account for somebody, staff too"),
    _by_security(Permission.USER_DISABLE, "Close an account"),
    _by_security(Permission.USER_ENABLE, "Open a closed account again"),
    Granted(Permission.USER_LIST, "Find accounts", (PLATFORM,), _STAFF),
    Granted(
        Permission.USER_READ,
        "See one's account, and who colleagues are",
        (PERSON, TENANT, PLATFORM),
        (*_MEMBERS, "viewer", *_STAFF),
        while_suspended=True,
        closed_to_keys=True,
    ),
    _by_security(Permission.USER_UNLOCK, "Lift the lock of an account"),
    _own(Permission.USER_UPDATE, "Change one's own account"),
)

BELONGING = (
    Granted(
        Permission.MEMBERSHIP_READ,
        "See who belongs to an organization",
        (PERSON, TENANT, PLATFORM),
        (*_ALL, *_LOOKING),
        while_suspended=True,
    ),
    Granted(
        Permission.MEMBERSHIP_CREATE, "Ask a known person to join", (TENANT,), sensitivity=GRAVE
    ),
    Granted(
        Permission.MEMBERSHIP_ANSWER, "Join, decline and leave", (PERSON,), while_suspended=True
    ),
    Granted(
        Permission.MEMBERSHIP_MANAGE, "Deactivate and remove members", (TENANT,), sensitivity=GRAVE
    ),
    Granted(
        Permission.INVITATION_CREATE, "Invite somebody by letter", (TENANT,), closed_to_keys=True
    ),
    Granted(Permission.INVITATION_READ, "See invitations", (TENANT,)),
    Granted(Permission.INVITATION_REVOKE, "Take an invitation back", (TENANT,)),
    Granted(
        Permission.ROLE_READ,
        "See which roles there are",
        (PERSON, TENANT, PLATFORM),
        (*_ALL, *_LOOKING),
        closed_to_keys=True,
    ),
    Granted(Permission.ROLE_MANAGE, "Make and change own roles", (TENANT,), sensitivity=GRAVE),
    Granted(
        Permission.ROLE_ASSIGNMENT_READ,
        "See who has which role",
        (TENANT, PLATFORM),
        ("platform_operator", "platform_security", "platform_auditor"),
        closed_to_keys=True,
    ),
    Granted(
        Permission.ROLE_ASSIGNMENT_MANAGE,
        "Give and take roles",
        (TENANT, PLATFORM),
        ("platform_operator", "platform_security"),
        sensitivity=GRAVE,
    ),
    Granted(
        Permission.PERMISSION_READ,
        "See which permissions there are",
        (PERSON, TENANT, PLATFORM),
        (*_ALL, *_LOOKING),
    ),
    Granted(Permission.PERMISSION_ASSIGNMENT_READ, "See single permissions given", (TENANT,)),
    Granted(
        Permission.PERMISSION_ASSIGNMENT_MANAGE,
        "Give and deny single permissions",
        (TENANT,),
        sensitivity=GRAVE,
        closed_to_keys=True,
    ),
)


GRANTED = (
    *PEOPLE,
    Granted(
        Permission.API_KEY_CREATE,
        "Make keys for programs",
        (TENANT,),
        sensitivity=Sensitivity.SENSITIVE,
        feature=_API,
    ),
    Granted(Permission.API_KEY_READ, "See the keys", (TENANT,), closed_to_keys=True),
    Granted(
        Permission.API_KEY_REVOKE,
        "Take keys back",
        (TENANT,),
        sensitivity=Sensitivity.SENSITIVE,
        while_suspended=True,
    ),
    Granted(
        Permission.API_KEY_ROTATE,
        "Replace keys by new ones",
        (TENANT,),
        sensitivity=Sensitivity.SENSITIVE,
        feature=_API,
    ),
    Granted(
        Permission.AUDIT_EVENT_READ,
        "Read who did what",
        (PERSON, TENANT, PLATFORM),
        _AUDITORS,
        while_suspended=True,
        closed_to_keys=True,
    ),
    Granted(
        Permission.DECISION_CHECK,
        "Ask whether an action is allowed",
        (PERSON, TENANT, SERVICE),
        _ALL,
    ),
    Granted(
        Permission.DECISION_INSPECT,
        "See why actions were allowed or denied",
        (PERSON, TENANT, PLATFORM),
        _AUDITORS,
        closed_to_keys=True,
    ),
    *BELONGING,
)

# IDN-24: the roles every organization has. What each holds is said by the permissions themselves.
TENANT_ROLES = {
    "owner": "Everything in the organization",
    "administrator": "Everything but changing owners and closing",
    "bid_manager": "Finds tenders and runs bids",
    "contributor": "Works on bids and records",
    "approver": "Approves prices and bids",
    "compliance_officer": "Keeps documents and evidence",
    "finance_manager": "Billing, funding and invoices",
    "viewer": "Reads everything that is not secret",
}

# The roles of staff; author and approver of policies are never in one person.
PLATFORM_ROLES = {
    "platform_operator": "Runs the platform and looks after organizations",
    "platform_support": "Helps customers who ask for it",
    "platform_security": "Ends sessions, disables and unlocks accounts",
    "platform_curator": "Checks facts, records and catalogues",
    "platform_policy_author": "Writes policies",
    "platform_policy_approver": "Approves policies",
    "platform_auditor": "Reads trails and decisions",
}
