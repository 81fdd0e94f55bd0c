"""Which moves exist in Bid."""

from thenga.domains.bid.lifecycles.proposals import SectionLifecycle, SuggestionLifecycle
from thenga.domains.bid.lifecycles.submission import (
    ApprovalLifecycle,
    FormLifecycle,
    PackLifecycle,
    WorkbookLifecycle,
)
from thenga.domains.bid.lifecycles.workspaces import (
    CommentLifecycle,
    OutcomeLifecycle,
    PlanLifecycle,
    TaskLifecycle,
    WorkspaceLifecycle,
)
from thenga.kernel.declare.lifecycle import Lifecycle
from thenga.kernel.files.contents import ContentLifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = (
    WorkspaceLifecycle,
    PlanLifecycle,
    TaskLifecycle,
    CommentLifecycle,
    SectionLifecycle,
    SuggestionLifecycle,
    FormLifecycle,
    WorkbookLifecycle,
    ApprovalLifecycle,
    PackLifecycle,
    OutcomeLifecycle,
    ContentLifecycle,
)

__all__ = [
    "LIFECYCLES",
    "ApprovalLifecycle",
    "CommentLifecycle",
    "FormLifecycle",
    "OutcomeLifecycle",
    "PackLifecycle",
    "PlanLifecycle",
    "SectionLifecycle",
    "SuggestionLifecycle",
    "TaskLifecycle",
    "WorkbookLifecycle",
    "WorkspaceLifecycle",
]
