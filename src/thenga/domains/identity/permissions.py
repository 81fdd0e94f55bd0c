"""What one may do in Identity; roles that hold these are data (IDN-24)."""

from enum import StrEnum

from thenga.kernel.manifest import Audience, Granted

PERSON, TENANT = Audience.PERSON, Audience.TENANT


class Permission(StrEnum):
    """Permissions of Identity."""

    DECISION_CHECK = "identity:decision:check"
    SESSION_READ = "identity:session:read"
    SESSION_REVOKE = "identity:session:revoke"


GRANTED = (
    Granted(Permission.DECISION_CHECK, "Ask whether an action is allowed", (PERSON,)),
    Granted(Permission.SESSION_READ, "See where one is signed in", (PERSON,), while_suspended=True),
    Granted(Permission.SESSION_REVOKE, "End a session", (PERSON,), while_suspended=True),
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
