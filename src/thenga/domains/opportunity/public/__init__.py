"""What other domains may know of Opportunity: its events, its ports and their values."""

from thenga.domains.opportunity.public import (
    board,
    dates,
    judgement,
    notices,
    requirements,
    settings,
    sources,
)
from thenga.domains.opportunity.public.board import SavedOpportunityMoved
from thenga.domains.opportunity.public.dates import (
    AttendanceRecorded,
    BriefingScheduled,
    DeadlineApproaching,
    DeadlineChanged,
)
from thenga.domains.opportunity.public.describing import (
    Tender,
    TenderBriefing,
    TenderBuyer,
    TenderCitation,
    TenderDeadline,
    TenderDocument,
    TenderForm,
    TenderFunctionality,
    TenderFunctionalityPart,
    TenderGoal,
    TenderPreference,
    TenderRequirement,
    Tenders,
    TenderSubmission,
)
from thenga.domains.opportunity.public.judgement import (
    Because,
    OpportunityMatched,
    QualificationCompleted,
    QualificationStale,
    RecommendationChanged,
)
from thenga.domains.opportunity.public.notices import (
    AmendedPath,
    TenderOpportunityAmended,
    TenderOpportunityAwarded,
    TenderOpportunityClosed,
    TenderOpportunityOpened,
    TenderOpportunityPublished,
    ToldAward,
    ToldDeadline,
)
from thenga.domains.opportunity.public.passages import Passage, PassageRef, Passages
from thenga.domains.opportunity.public.requirements import (
    TenderDocumentChanged,
    TenderRequirementsChanged,
)
from thenga.domains.opportunity.public.settings import PolicyAcknowledged
from thenga.domains.opportunity.public.sources import (
    RunCounts,
    SourceChanged,
    SourceHealthChanged,
    SourceRunFinished,
)

EVENTS = (
    *notices.EVENTS,
    *dates.EVENTS,
    *requirements.EVENTS,
    *judgement.EVENTS,
    *board.EVENTS,
    *sources.EVENTS,
    *settings.EVENTS,
)

__all__ = [
    "EVENTS",
    "AmendedPath",
    "AttendanceRecorded",
    "Because",
    "BriefingScheduled",
    "DeadlineApproaching",
    "DeadlineChanged",
    "OpportunityMatched",
    "Passage",
    "PassageRef",
    "Passages",
    "PolicyAcknowledged",
    "QualificationCompleted",
    "QualificationStale",
    "RecommendationChanged",
    "RunCounts",
    "SavedOpportunityMoved",
    "SourceChanged",
    "SourceHealthChanged",
    "SourceRunFinished",
    "Tender",
    "TenderBriefing",
    "TenderBuyer",
    "TenderCitation",
    "TenderDeadline",
    "TenderDocument",
    "TenderDocumentChanged",
    "TenderForm",
    "TenderFunctionality",
    "TenderFunctionalityPart",
    "TenderGoal",
    "TenderOpportunityAmended",
    "TenderOpportunityAwarded",
    "TenderOpportunityClosed",
    "TenderOpportunityOpened",
    "TenderOpportunityPublished",
    "TenderPreference",
    "TenderRequirement",
    "TenderRequirementsChanged",
    "TenderSubmission",
    "Tenders",
    "ToldAward",
    "ToldDeadline",
]
