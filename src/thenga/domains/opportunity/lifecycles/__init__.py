"""Which moves exist in Opportunity, by area."""

from thenga.domains.opportunity.lifecycles.board import (
    SavedOpportunityLifecycle,
    WatchlistLifecycle,
)
from thenga.domains.opportunity.lifecycles.judgement import (
    QualificationLifecycle,
    RecommendationLifecycle,
)
from thenga.domains.opportunity.lifecycles.notices import (
    BriefingLifecycle,
    DocumentFetchLifecycle,
    RequirementLifecycle,
    TenderOpportunityLifecycle,
)
from thenga.domains.opportunity.lifecycles.sources import RunLifecycle, SourceLifecycle

LIFECYCLES = (
    SourceLifecycle,
    RunLifecycle,
    TenderOpportunityLifecycle,
    DocumentFetchLifecycle,
    RequirementLifecycle,
    BriefingLifecycle,
    QualificationLifecycle,
    RecommendationLifecycle,
    WatchlistLifecycle,
    SavedOpportunityLifecycle,
)

__all__ = [
    "LIFECYCLES",
    "BriefingLifecycle",
    "DocumentFetchLifecycle",
    "QualificationLifecycle",
    "RecommendationLifecycle",
    "RequirementLifecycle",
    "RunLifecycle",
    "SavedOpportunityLifecycle",
    "SourceLifecycle",
    "TenderOpportunityLifecycle",
    "WatchlistLifecycle",
]
