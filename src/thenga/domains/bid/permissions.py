"""What one may do in Bid; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted, Sensitivity

_TENANT = (Audience.TENANT,)

_MANAGER = ("bid_manager",)
_WRITERS = ("bid_manager", "contributor")
_PRICERS = ("bid_manager", "finance_manager")
_REVIEWERS = ("bid_manager", "approver")
_TEAM = ("bid_manager", "contributor", "approver", "finance_manager")
_READERS = (*_TEAM, "viewer")


class Permission(StrEnum):
    """Permissions of Bid."""

    WORKSPACE_CREATE = "bid:workspace:create"
    WORKSPACE_READ = "bid:workspace:read"
    WORKSPACE_UPDATE = "bid:workspace:update"
    WORKSPACE_GOVERN = "bid:workspace:govern"
    WORKSPACE_WITHDRAW = "bid:workspace:withdraw"
    WORKSPACE_RECONFIRM = "bid:workspace:reconfirm"
    PLAN_WRITE = "bid:plan:write"
    TASK_CREATE = "bid:task:create"
    TASK_READ = "bid:task:read"
    TASK_UPDATE = "bid:task:update"
    COMMENT_CREATE = "bid:comment:create"
    COMMENT_READ = "bid:comment:read"
    COMMENT_UPDATE = "bid:comment:update"
    DRAFT_CREATE = "bid:draft:create"
    SECTION_READ = "bid:section:read"
    SECTION_UPDATE = "bid:section:update"
    SECTION_REVIEW = "bid:section:review"
    SUGGESTION_DECIDE = "bid:suggestion:decide"
    MATRIX_UPDATE = "bid:matrix:update"
    FORM_CATALOGUE_READ = "bid:form_catalogue:read"
    FORM_CREATE = "bid:form:create"
    FORM_READ = "bid:form:read"
    FORM_UPDATE = "bid:form:update"
    FORM_VERIFY = "bid:form:verify"
    FORM_SIGN = "bid:form:sign"
    PRICING_CREATE = "bid:pricing:create"
    PRICING_READ = "bid:pricing:read"
    PRICING_UPDATE = "bid:pricing:update"
    APPROVAL_REQUEST = "bid:approval:request"
    APPROVAL_READ = "bid:approval:read"
    APPROVAL_DECIDE = "bid:approval:decide"
    APPROVAL_DECIDE_HIGH = "bid:approval:decide_high"
    PACK_BUILD = "bid:pack:build"
    PACK_READ = "bid:pack:read"
    PACK_UPDATE = "bid:pack:update"
    PACK_OVERRIDE = "bid:pack:override"
    PACK_SEAL = "bid:pack:seal"
    PACK_SUBMIT = "bid:pack:submit"
    OUTCOME_RECORD = "bid:outcome:record"
    OUTCOME_READ = "bid:outcome:read"
    FILE_CREATE = "bid:file:create"
    FILE_READ = "bid:file:read"


P = Permission


def _reads(code: Permission, title: str, roles: tuple[str, ...] = _READERS) -> Granted:
    return Granted(code, title, _TENANT, roles, while_suspended=True)


def _priced(code: Permission, title: str, roles: tuple[str, ...]) -> Granted:
    """Prices are for people and keys; no agent ever reads or writes them (BID-4)."""
    return Granted(code, title, _TENANT, roles, closed_to_agents=True)


def _decides(code: Permission, title: str, roles: tuple[str, ...]) -> Granted:
    return Granted(code, title, _TENANT, roles, people_only=True)


def _proves(code: Permission, title: str, roles: tuple[str, ...]) -> Granted:
    """Asks a person for a fresh proof."""
    return Granted(code, title, _TENANT, roles, Sensitivity.SENSITIVE, people_only=True)


GRANTED = (
    Granted(P.WORKSPACE_CREATE, "Open bid workspaces", _TENANT, _MANAGER, feature="bid.workspaces"),
    _reads(P.WORKSPACE_READ, "Read bid workspaces"),
    Granted(P.WORKSPACE_UPDATE, "Change bid workspaces", _TENANT, _MANAGER),
    _decides(P.WORKSPACE_GOVERN, "Change team and manager of any bid workspace", ()),
    _decides(P.WORKSPACE_WITHDRAW, "Decide not to bid, or withdraw a bid", _MANAGER),
    _decides(P.WORKSPACE_RECONFIRM, "Reconfirm bids after amendments", _MANAGER),
    Granted(P.PLAN_WRITE, "Plan bids", _TENANT, _MANAGER),
    Granted(P.TASK_CREATE, "Add tasks to bids", _TENANT, _WRITERS),
    _reads(P.TASK_READ, "Read tasks of bids"),
    Granted(P.TASK_UPDATE, "Change tasks of bids", _TENANT, _TEAM),
    Granted(P.COMMENT_CREATE, "Comment on bids", _TENANT, _TEAM),
    _reads(P.COMMENT_READ, "Read comments on bids"),
    Granted(P.COMMENT_UPDATE, "Resolve and change comments on bids", _TENANT, _TEAM),
    Granted(P.DRAFT_CREATE, "Begin drafts of proposals", _TENANT, _WRITERS),
    _reads(P.SECTION_READ, "Read proposals"),
    Granted(P.SECTION_UPDATE, "Write proposals", _TENANT, (*_WRITERS, "approver")),
    _decides(P.SECTION_REVIEW, "Review proposals that others wrote", _REVIEWERS),
    _decides(P.SUGGESTION_DECIDE, "Decide suggestions to proposals", _WRITERS),
    Granted(P.MATRIX_UPDATE, "Answer the requirements of tenders", _TENANT, _WRITERS),
    _reads(P.FORM_CATALOGUE_READ, "Read the catalogue of bid forms"),
    Granted(P.FORM_CREATE, "Add forms to bids", _TENANT, _WRITERS),
    _reads(P.FORM_READ, "Read forms of bids"),
    Granted(P.FORM_UPDATE, "Fill in forms of bids", _TENANT, (*_WRITERS, "approver")),
    _decides(P.FORM_VERIFY, "Verify forms that others signed", _REVIEWERS),
    _proves(P.FORM_SIGN, "Sign forms of bids", _REVIEWERS),
    _priced(P.PRICING_CREATE, "Begin pricing workbooks", _PRICERS),
    _priced(P.PRICING_READ, "Read prices of bids", (*_PRICERS, "approver")),
    _priced(P.PRICING_UPDATE, "Change prices of bids", _PRICERS),
    Granted(P.APPROVAL_REQUEST, "Request approvals of bids", _TENANT, _PRICERS),
    _reads(P.APPROVAL_READ, "Read approvals of bids"),
    _proves(P.APPROVAL_DECIDE, "Decide approvals of bids", ("approver", "finance_manager")),
    Granted(
        P.APPROVAL_DECIDE_HIGH,
        "Decide approvals of the highest band",
        _TENANT,
        (),
        Sensitivity.SENSITIVE,
        owner_only=True,
        people_only=True,
    ),
    Granted(P.PACK_BUILD, "Build submission packs", _TENANT, _MANAGER),
    _reads(P.PACK_READ, "Read submission packs"),
    Granted(P.PACK_UPDATE, "Change submission packs", _TENANT, _MANAGER),
    _decides(P.PACK_OVERRIDE, "Override findings of submission packs", _MANAGER),
    _proves(P.PACK_SEAL, "Seal submission packs", _MANAGER),
    _decides(P.PACK_SUBMIT, "Record that a bid was submitted", _MANAGER),
    _decides(P.OUTCOME_RECORD, "Record outcomes of bids", _MANAGER),
    _reads(P.OUTCOME_READ, "Read outcomes of bids"),
    Granted(P.FILE_CREATE, "Add files to bids", _TENANT, _TEAM),
    _reads(P.FILE_READ, "Read files of bids"),
)
