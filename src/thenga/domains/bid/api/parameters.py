"""Path parameters of Bid, each described once, and names that maps are keyed by."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

from thenga.kernel.values.fields import matching

WorkspaceId = Annotated[UUID, Path(alias="workspaceId", description="ID of the workspace.")]
TaskId = Annotated[UUID, Path(alias="taskId", description="ID of the task.")]
CommentId = Annotated[UUID, Path(alias="commentId", description="ID of the comment.")]
DraftId = Annotated[UUID, Path(alias="draftId", description="ID of the draft.")]
SectionId = Annotated[UUID, Path(alias="sectionId", description="ID of the section.")]
FormId = Annotated[UUID, Path(alias="formId", description="ID of the form.")]
ApprovalId = Annotated[UUID, Path(alias="approvalId", description="ID of the approval.")]
PackId = Annotated[UUID, Path(alias="packId", description="ID of the submission pack.")]
FileId = Annotated[UUID, Path(alias="fileId", description="ID of the file.")]

Sha256 = Annotated[str, matching("^[0-9a-f]{64}$", 64)]
EntryKey = Annotated[str, matching("^[a-z][a-z0-9_]{0,39}$", 40)]
