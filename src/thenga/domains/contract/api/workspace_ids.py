"""The contract in a path, described once."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

WorkspaceId = Annotated[UUID, Path(alias="workspaceId", description="ID of the contract.")]
