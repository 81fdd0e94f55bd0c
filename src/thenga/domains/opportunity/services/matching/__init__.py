"""Matching: how well tenders fit companies, in points and in gates (OPP-30 to OPP-35)."""

from thenga.domains.opportunity.services.matching.features import (
    CidbAsked,
    ProfileFeatures,
    TenderFeatures,
)
from thenga.domains.opportunity.services.matching.gates import (
    attendance_result,
    grade_result,
)
from thenga.domains.opportunity.services.matching.matches import (
    MatchFilters,
    Standing,
    compute_own,
    get_match,
    list_matches,
    newest_run,
    request_own,
    stale_reasons,
    store_own,
    weights_in_force,
)
from thenga.domains.opportunity.services.matching.profile_inputs import RECORD_TYPES, Answers
from thenga.domains.opportunity.services.matching.profiles import (
    holder_of,
    make_profile,
    mark_profile_due,
    profile_features,
    profile_of,
    store_profile,
)
from thenga.domains.opportunity.services.matching.runs import (
    Chunk,
    alert_company,
    begin,
    begin_matching,
    match_chunk,
    request_all,
    run_chunk,
)
from thenga.domains.opportunity.services.matching.tenders import (
    TAKES_BIDS,
    own_attendance,
    tender_features,
)

__all__ = [
    "RECORD_TYPES",
    "TAKES_BIDS",
    "Answers",
    "Chunk",
    "CidbAsked",
    "MatchFilters",
    "ProfileFeatures",
    "Standing",
    "TenderFeatures",
    "alert_company",
    "attendance_result",
    "begin",
    "begin_matching",
    "compute_own",
    "get_match",
    "grade_result",
    "holder_of",
    "list_matches",
    "make_profile",
    "mark_profile_due",
    "match_chunk",
    "newest_run",
    "own_attendance",
    "profile_features",
    "profile_of",
    "request_all",
    "request_own",
    "run_chunk",
    "stale_reasons",
    "store_own",
    "store_profile",
    "tender_features",
    "weights_in_force",
]
