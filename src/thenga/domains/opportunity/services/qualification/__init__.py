"""Qualification and recommendation: the judgement of one company (OPP-36 to OPP-39)."""

from thenga.domains.opportunity.services.qualification.qualifications import (
    AnswersMissing,
    QualificationIsStale,
    Said,
    answer,
    get_qualification,
    is_stale,
    mark_stale,
)
from thenga.domains.opportunity.services.qualification.recommendations import (
    DISCLAIMER,
    Decision,
    RecommendationExpired,
    decide,
    get_recommendation,
    is_expired,
    recompute_stored,
    refresh,
)

__all__ = [
    "DISCLAIMER",
    "AnswersMissing",
    "Decision",
    "QualificationIsStale",
    "RecommendationExpired",
    "Said",
    "answer",
    "decide",
    "get_qualification",
    "get_recommendation",
    "is_expired",
    "is_stale",
    "mark_stale",
    "recompute_stored",
    "refresh",
]
