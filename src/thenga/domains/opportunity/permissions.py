"""What one may do in Opportunity; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted

_TENANT = (Audience.TENANT,)
_BOTH = (Audience.TENANT, Audience.PLATFORM)

_READERS = (
    "bid_manager",
    "contributor",
    "approver",
    "compliance_officer",
    "finance_manager",
    "viewer",
)
_WRITERS = ("bid_manager", "contributor")
_DECIDERS = ("bid_manager", "approver")
_READING_STAFF = ("platform_operator", "platform_support", "platform_curator")
_KEEPING_STAFF = ("platform_operator", "platform_curator")


class Permission(StrEnum):
    """Permissions of Opportunity."""

    SOURCE_CREATE = "opportunity:source:create"
    SOURCE_READ = "opportunity:source:read"
    SOURCE_UPDATE = "opportunity:source:update"
    SOURCE_RUN = "opportunity:source:run"
    OPPORTUNITY_CREATE = "opportunity:opportunity:create"
    OPPORTUNITY_READ = "opportunity:opportunity:read"
    OPPORTUNITY_UPDATE = "opportunity:opportunity:update"
    OPPORTUNITY_PUBLISH = "opportunity:opportunity:publish"
    DOCUMENT_CREATE = "opportunity:document:create"
    DOCUMENT_READ = "opportunity:document:read"
    REQUIREMENT_READ = "opportunity:requirement:read"
    REQUIREMENT_CAPTURE = "opportunity:requirement:capture"
    BRIEFING_TRACK = "opportunity:briefing:track"
    DEADLINE_TRACK = "opportunity:deadline:track"
    MATCH_REQUEST = "opportunity:match:request"
    MATCH_READ = "opportunity:match:read"
    QUALIFICATION_MANAGE = "opportunity:qualification:manage"
    QUALIFICATION_READ = "opportunity:qualification:read"
    RECOMMENDATION_READ = "opportunity:recommendation:read"
    RECOMMENDATION_DECIDE = "opportunity:recommendation:decide"
    WATCHLIST_MANAGE = "opportunity:watchlist:manage"
    WATCHLIST_READ = "opportunity:watchlist:read"
    SAVED_OPPORTUNITY_MANAGE = "opportunity:saved_opportunity:manage"
    SAVED_OPPORTUNITY_READ = "opportunity:saved_opportunity:read"


GRANTED = (
    Granted(
        Permission.SOURCE_CREATE, "Add sources of tenders", _BOTH, ("bid_manager", *_KEEPING_STAFF)
    ),
    Granted(Permission.SOURCE_READ, "Read sources of tenders", _BOTH, (*_READERS, *_READING_STAFF)),
    Granted(
        Permission.SOURCE_UPDATE,
        "Change sources of tenders",
        _BOTH,
        ("bid_manager", *_KEEPING_STAFF),
    ),
    Granted(
        Permission.SOURCE_RUN, "Start runs of sources", _BOTH, ("bid_manager", *_KEEPING_STAFF)
    ),
    Granted(Permission.OPPORTUNITY_CREATE, "Capture tenders", _BOTH, (*_WRITERS, *_KEEPING_STAFF)),
    Granted(
        Permission.OPPORTUNITY_READ, "Find and read tenders", _BOTH, (*_READERS, *_READING_STAFF)
    ),
    Granted(Permission.OPPORTUNITY_UPDATE, "Change tenders", _BOTH, (*_WRITERS, *_KEEPING_STAFF)),
    Granted(
        Permission.OPPORTUNITY_PUBLISH, "Publish tenders", _BOTH, ("bid_manager", *_KEEPING_STAFF)
    ),
    Granted(
        Permission.DOCUMENT_CREATE, "Add documents to tenders", _BOTH, (*_WRITERS, *_KEEPING_STAFF)
    ),
    Granted(
        Permission.DOCUMENT_READ, "Read documents of tenders", _BOTH, (*_READERS, *_READING_STAFF)
    ),
    Granted(
        Permission.REQUIREMENT_READ,
        "Read requirements of tenders",
        _BOTH,
        (*_READERS, *_READING_STAFF),
    ),
    Granted(
        Permission.REQUIREMENT_CAPTURE,
        "Capture requirements of tenders",
        _BOTH,
        (*_WRITERS, *_KEEPING_STAFF),
        people_only=True,
    ),
    Granted(
        Permission.BRIEFING_TRACK,
        "Add briefings and record attendance",
        _BOTH,
        (*_WRITERS, *_KEEPING_STAFF),
        people_only=True,
    ),
    Granted(
        Permission.DEADLINE_TRACK, "Add deadlines to tenders", _BOTH, (*_WRITERS, *_KEEPING_STAFF)
    ),
    Granted(Permission.MATCH_REQUEST, "Compute matches", _BOTH, (*_WRITERS, *_KEEPING_STAFF)),
    Granted(Permission.MATCH_READ, "Read matches", _TENANT, _READERS),
    Granted(
        Permission.QUALIFICATION_MANAGE, "Qualify for tenders", _TENANT, _WRITERS, people_only=True
    ),
    Granted(Permission.QUALIFICATION_READ, "Read qualifications", _TENANT, _READERS),
    Granted(Permission.RECOMMENDATION_READ, "Read recommendations", _TENANT, _READERS),
    Granted(
        Permission.RECOMMENDATION_DECIDE,
        "Decide whether to bid",
        _TENANT,
        _DECIDERS,
        people_only=True,
    ),
    Granted(Permission.WATCHLIST_MANAGE, "Manage watchlists", _TENANT, _WRITERS),
    Granted(Permission.WATCHLIST_READ, "Read watchlists", _TENANT, _READERS),
    Granted(
        Permission.SAVED_OPPORTUNITY_MANAGE, "Manage the board of saved tenders", _TENANT, _WRITERS
    ),
    Granted(
        Permission.SAVED_OPPORTUNITY_READ, "Read the board of saved tenders", _TENANT, _READERS
    ),
)
