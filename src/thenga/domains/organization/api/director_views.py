"""How a director is shown."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.api.checked import RecordCheckView
from thenga.domains.organization.api.director_bodies import IdType, Role
from thenga.domains.organization.api.fact_views import WarningView
from thenga.domains.organization.api.records import RecordView, shown
from thenga.domains.organization.lifecycles import DirectorLifecycle
from thenga.domains.organization.services import people
from thenga.domains.organization.tables import (
    DirectorStatus,
    DirectorVerification,
)
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import View
from thenga.kernel.values.calendar import local_day

_WARNINGS = {"refugee": "The number says refugee; authorities do not publish how they are told."}


class ParticularsView(View):
    institution: str | None
    position: str | None
    employee_number_masked: str | None
    note: str | None


class FlagStatementView(View):
    value: Literal["yes", "no", "possible"]
    kind: Annotated[
        Literal["customer_supplied", "verified"],
        Field(description="Declared by the company, or found by a verifier."),
    ]
    source: dict[str, Any] | None
    as_of: date
    until: date | None
    particulars: ParticularsView | None


class FlagView(View):
    """What counts of a flag today, and everything that was said of it, side by side."""

    effective: Literal["yes", "no", "unknown", "possible"]
    statements: list[FlagStatementView]


class FlagsView(View):
    public_servant: FlagView
    restricted: FlagView
    politically_exposed: FlagView


class DirectorView(RecordView):
    """A director; the identity number is only ever shown masked."""

    given_names: str
    surname: str
    role: Role
    id_type: IdType
    id_number_masked: str
    id_country: str | None
    nationality: str | None
    shareholding_percent: Decimal | None
    beneficial_owner: bool
    appointed_on: date | None
    resigned_on: date | None
    user_id: UUID | None
    email: str | None
    phone: str | None
    status: DirectorStatus
    verification_status: DirectorVerification
    verified_until: datetime | None
    verifications: list[RecordCheckView]
    flags: FlagsView
    warnings: list[WarningView]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, one: people.Portrait, now: datetime) -> "DirectorView":
        director = one.director
        warned = [WarningView(code=w, detail=_WARNINGS.get(w, w)) for w in director.warnings]
        return cls.shown(
            {
                **shown(director),
                "verification_status": people.verification_on(director, now),
                "verifications": [RecordCheckView.of(check) for check in one.checks],
                "flags": _flags(one.statements, local_day(now)),
                "warnings": warned,
                "allowed_moves": DirectorLifecycle.allowed(director, now),
            }
        )


def _flags(statements: list[people.Statement], today: date) -> FlagsView:
    shown_of = {}
    for name in people.FLAGS:
        said = [one for one in statements if one.flag == name]
        shown_of[name] = FlagView(
            effective=people.effective_flags(said, today),
            statements=[FlagStatementView.model_validate(one) for one in said],
        )
    return FlagsView(
        public_servant=shown_of["publicServant"],
        restricted=shown_of["restricted"],
        politically_exposed=shown_of["politicallyExposed"],
    )
