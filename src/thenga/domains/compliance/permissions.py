"""What one may do in Compliance; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

_TENANT = (Audience.TENANT,)
_STAFF = (Audience.PLATFORM,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)

_OFFICER = ("compliance_officer",)
_BIDDERS = ("compliance_officer", "bid_manager")
_CONFIDANTS = ("compliance_officer", "bid_manager", "finance_manager", "approver")
_BRINGERS = ("compliance_officer", "bid_manager", "contributor", "finance_manager")
_EVERYBODY = (*_BRINGERS, "approver", "viewer")
_OPERATOR = ("platform_operator",)


class Permission(StrEnum):
    """Permissions of Compliance."""

    PROFILE_CREATE = "compliance:profile:create"
    PROFILE_READ = "compliance:profile:read"
    PROFILE_UPDATE = "compliance:profile:update"
    REQUIREMENT_CREATE = "compliance:requirement:create"
    REQUIREMENT_READ = "compliance:requirement:read"
    REQUIREMENT_UPDATE = "compliance:requirement:update"
    REQUIREMENT_PUBLISH = "compliance:requirement:publish"
    DOCUMENT_UPLOAD = "compliance:document:upload"
    DOCUMENT_READ = "compliance:document:read"
    DOCUMENT_UPDATE = "compliance:document:update"
    DOCUMENT_DOWNLOAD = "compliance:document:download"
    CONFIDENTIAL_DOCUMENT_READ = "compliance:confidential_document:read"
    PERSONAL_DOCUMENT_UPLOAD = "compliance:personal_document:upload"
    PERSONAL_DOCUMENT_READ = "compliance:personal_document:read"
    EVIDENCE_LINK = "compliance:evidence:link"
    EVIDENCE_READ = "compliance:evidence:read"
    EVIDENCE_UPDATE = "compliance:evidence:update"
    VERIFICATION_REQUEST = "compliance:verification:request"
    VERIFICATION_READ = "compliance:verification:read"
    VERIFICATION_DECIDE = "compliance:verification:decide"
    EXPIRY_READ = "compliance:expiry:read"
    READINESS_READ = "compliance:readiness:read"
    RISK_READ = "compliance:risk:read"
    RISK_UPDATE = "compliance:risk:update"
    RISK_ACCEPT = "compliance:risk:accept"
    SUGGESTION_READ = "compliance:suggestion:read"
    SUGGESTION_REVIEW = "compliance:suggestion:review"
    ZA_CONTEXT_READ = "compliance:za_context:read"


P = Permission


def _reads(code: Permission, title: str) -> Granted:
    return Granted(code, title, _TENANT, _EVERYBODY, while_suspended=True)


GRANTED = (
    Granted(P.PROFILE_CREATE, "Create the compliance profile", _TENANT, _OFFICER),
    _reads(P.PROFILE_READ, "Read the compliance profile"),
    Granted(P.PROFILE_UPDATE, "Change the compliance profile", _TENANT, _OFFICER),
    Granted(P.REQUIREMENT_CREATE, "Add requirements", _BOTH, (*_BIDDERS, "platform_operator")),
    Granted(
        P.REQUIREMENT_READ,
        "Read requirements",
        _BOTH,
        (*_EVERYBODY, "platform_operator"),
        while_suspended=True,
    ),
    Granted(P.REQUIREMENT_UPDATE, "Change requirements", _TENANT, _BIDDERS),
    Granted(
        P.REQUIREMENT_PUBLISH,
        "Publish requirements and document types of the platform",
        _STAFF,
        _OPERATOR,
        Sensitivity.SENSITIVE,
        people_only=True,
    ),
    Granted(P.DOCUMENT_UPLOAD, "Upload documents", _TENANT, _BRINGERS),
    _reads(P.DOCUMENT_READ, "Read documents"),
    Granted(P.DOCUMENT_UPDATE, "Change the facts of documents", _TENANT, _BRINGERS),
    Granted(
        P.DOCUMENT_DOWNLOAD,
        "Download documents",
        _BOTH,
        (*_EVERYBODY, "platform_operator"),
        while_suspended=True,
        people_only=True,
    ),
    Granted(
        P.CONFIDENTIAL_DOCUMENT_READ,
        "Read confidential documents",
        _BOTH,
        (*_CONFIDANTS, "platform_operator"),
        while_suspended=True,
    ),
    Granted(P.PERSONAL_DOCUMENT_UPLOAD, "Upload documents of persons", _TENANT, _OFFICER),
    Granted(
        P.PERSONAL_DOCUMENT_READ,
        "Read documents of persons",
        _TENANT,
        _OFFICER,
        people_only=True,
    ),
    Granted(P.EVIDENCE_LINK, "Link proofs to requirements", _TENANT, _BRINGERS),
    _reads(P.EVIDENCE_READ, "Read evidence"),
    Granted(P.EVIDENCE_UPDATE, "Change evidence", _TENANT, _BRINGERS),
    Granted(P.VERIFICATION_REQUEST, "Request verifications", _TENANT, _BRINGERS),
    Granted(
        P.VERIFICATION_READ,
        "Read verifications",
        _BOTH,
        (*_EVERYBODY, "platform_operator"),
        while_suspended=True,
    ),
    Granted(
        P.VERIFICATION_DECIDE,
        "Decide verifications of proofs that others brought",
        _BOTH,
        ("compliance_officer", "approver", "platform_operator"),
        people_only=True,
    ),
    _reads(P.EXPIRY_READ, "Read what expires"),
    _reads(P.READINESS_READ, "Read readiness"),
    _reads(P.RISK_READ, "Read compliance risks"),
    Granted(P.RISK_UPDATE, "Treat compliance risks", _TENANT, _BIDDERS),
    Granted(
        P.RISK_ACCEPT,
        "Accept compliance risks",
        _TENANT,
        ("compliance_officer", "approver"),
        people_only=True,
    ),
    _reads(P.SUGGESTION_READ, "Read suggestions about documents and requirements"),
    Granted(
        P.SUGGESTION_REVIEW,
        "Accept or reject suggestions",
        _TENANT,
        _BIDDERS,
        people_only=True,
    ),
    _reads(P.ZA_CONTEXT_READ, "Read the South African compliance summary"),
)
