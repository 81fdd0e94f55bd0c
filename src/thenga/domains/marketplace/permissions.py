"""What one may do in Marketplace; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted

_TENANT = (Audience.TENANT,)
_STAFF = (Audience.PLATFORM,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)
_BUYERS = ("bid_manager", "contributor", "finance_manager")
_EVERYBODY = (*_BUYERS, "approver", "compliance_officer", "viewer")
_CURATORS = ("platform_operator", "platform_curator")
_HELPERS = (*_CURATORS, "platform_support")


class Permission(StrEnum):
    """Permissions of Marketplace."""

    CATEGORY_READ = "marketplace:category:read"
    CATEGORY_MANAGE = "marketplace:category:manage"
    LISTING_CREATE = "marketplace:listing:create"
    LISTING_READ = "marketplace:listing:read"
    LISTING_UPDATE = "marketplace:listing:update"
    LISTING_VISIBILITY = "marketplace:listing:visibility"
    LISTING_MODERATE = "marketplace:listing:moderate"
    SEARCH_READ = "marketplace:search:read"
    MATCH_CREATE = "marketplace:match:create"
    MATCH_READ = "marketplace:match:read"
    QUOTE_REQUEST_CREATE = "marketplace:quote_request:create"
    QUOTE_REQUEST_READ = "marketplace:quote_request:read"
    QUOTE_REQUEST_UPDATE = "marketplace:quote_request:update"
    SUPPORT_REQUEST_CREATE = "marketplace:support_request:create"
    SUPPORT_REQUEST_READ = "marketplace:support_request:read"
    SUPPORT_REQUEST_UPDATE = "marketplace:support_request:update"
    SUPPORT_REQUEST_RESOLVE = "marketplace:support_request:resolve"
    RECOMMENDATION_DISPLAY_RECORD = "marketplace:recommendation_display:record"
    RECOMMENDATION_DISPLAY_READ = "marketplace:recommendation_display:read"


P = Permission

GRANTED = (
    Granted(P.CATEGORY_READ, "Read categories", _BOTH, (*_EVERYBODY, *_HELPERS)),
    Granted(P.CATEGORY_MANAGE, "Add and change categories", _STAFF, _CURATORS, people_only=True),
    Granted(P.LISTING_CREATE, "Create listings", _TENANT, _BUYERS),
    Granted(P.LISTING_READ, "Read listings", _BOTH, (*_EVERYBODY, *_HELPERS), while_suspended=True),
    Granted(P.LISTING_UPDATE, "Change listings", _TENANT, _BUYERS),
    Granted(P.LISTING_VISIBILITY, "Choose who can find listings", _TENANT, _BUYERS),
    Granted(P.LISTING_MODERATE, "Decide about listings", _STAFF, _CURATORS, people_only=True),
    Granted(P.SEARCH_READ, "Search listings", _TENANT, _EVERYBODY),
    Granted(P.MATCH_CREATE, "Compute matches", _TENANT, _BUYERS),
    Granted(P.MATCH_READ, "Read matches", _TENANT, _EVERYBODY),
    Granted(P.QUOTE_REQUEST_CREATE, "Request quotes", _TENANT, _BUYERS),
    Granted(P.QUOTE_REQUEST_READ, "Read quote requests", _TENANT, _EVERYBODY, while_suspended=True),
    Granted(P.QUOTE_REQUEST_UPDATE, "Send and change quote requests", _TENANT, _BUYERS),
    Granted(P.SUPPORT_REQUEST_CREATE, "Ask for support", _TENANT, _EVERYBODY),
    Granted(
        P.SUPPORT_REQUEST_READ,
        "Read support requests",
        _BOTH,
        (*_EVERYBODY, *_HELPERS),
        while_suspended=True,
    ),
    Granted(P.SUPPORT_REQUEST_UPDATE, "Close support requests", _TENANT, _EVERYBODY),
    Granted(
        P.SUPPORT_REQUEST_RESOLVE, "Resolve support requests", _STAFF, _HELPERS, people_only=True
    ),
    Granted(P.RECOMMENDATION_DISPLAY_RECORD, "Record what was shown", _TENANT, _EVERYBODY),
    Granted(P.RECOMMENDATION_DISPLAY_READ, "Read what was shown", _TENANT, _EVERYBODY),
)
