"""How a check of a record is sent and shown."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.api.facts import CheckSource
from thenga.domains.organization.services.evidence import Check
from thenga.domains.organization.tables import Outcome, Verification
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import Instant, lines


class VerificationBody(Body):
    """What a verifier found out."""

    outcome: Annotated[
        Outcome, Field(description="`inconclusive` where the source did not answer.")
    ]
    method: Literal["registry", "document", "manual", "client_confirmation", "contract"]
    source: CheckSource
    valid_until: Annotated[
        Instant | None, Field(description="At most 400 days ahead; by the method if left out.")
    ] = None
    note: Annotated[str, lines(1, 500)] | None = None

    def check(self) -> Check:
        return Check(
            outcome=self.outcome,
            method=self.method,
            source=self.source.model_dump(by_alias=True, exclude_none=True),
            valid_until=self.valid_until,
            note=self.note,
        )


class RecordCheckView(View):
    """One check of one version of the record; it stays readable when it is over."""

    id: UUID
    version: Annotated[int, Field(description="The version that was checked.")]
    outcome: Outcome
    method: str
    source: dict[str, Any]
    note: str | None
    checked_by: UUID | None
    checked_at: datetime
    valid_until: datetime | None
    ended_at: Annotated[datetime | None, Field(description="When it stopped counting, if it did.")]

    @classmethod
    def of(cls, one: Verification) -> "RecordCheckView":
        return cls.shown(
            one.__dict__ | {"version": one.subject_version, "checked_at": one.created_at}
        )
