"""What a client sends of forms."""

from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.parameters import Sha256
from thenga.domains.bid.api.pricing_fields import GoalKey, Points
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import lines, matching, text

FieldId = Annotated[str, matching("^[a-z0-9][a-z0-9_.]{0,59}$", 60)]


class WantedForm(Body):
    """A form to add."""

    form_code: Annotated[str, text(1, 40), Field(description="Code of the form, or `BUYER`.")]
    edition: Annotated[
        Annotated[str, text(1, 40)] | None,
        Field(description="Edition. Defaults to the one in force on the closing date."),
    ] = None
    bidder_key: Annotated[
        Annotated[str, text(1, 40)] | None, Field(description="Key of the joint bidder.")
    ] = None
    title: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Title of a buyer's own form.")
    ] = None


class AddSbdForms(Body):
    """Forms to add: those that the tender lists, or those that you name."""

    from_tender: Annotated[bool, Field(description="Add the forms that the tender lists.")] = False
    forms: Annotated[list[WantedForm], Field(max_length=40, description="Forms to add.")] = []


class DeclaredDirector(Body):
    """A director who is employed by the state. The identity number comes from the profile."""

    director_id: Annotated[UUID, Field(description="Director of the company.")]
    institution: Annotated[str, text(1, 200), Field(description="Name of the state institution.")]


class ClaimedGoal(Body):
    """Points claimed for a specific goal in either system."""

    claim_8020: Annotated[Points | None, Field(description="Points under 80/20.")] = None
    claim_9010: Annotated[Points | None, Field(description="Points under 90/10.")] = None
    proof: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Evidence or file that proves it.")
    ] = None


class FormAnswer(Body):
    """One answer: a value, a confirmation or a table."""

    value: Annotated[
        Annotated[str, lines(1, 4000)] | None,
        Field(description="Text, date, choice, `yes` or `no`."),
    ] = None
    accept: Annotated[
        bool | None, Field(description="True to accept the statements of the form.")
    ] = None
    confirm: Annotated[bool | None, Field(description="True to confirm the proposed value.")] = None
    directors: Annotated[
        list[DeclaredDirector] | None, Field(max_length=50, description="Declared directors.")
    ] = None
    goals: Annotated[
        dict[GoalKey, ClaimedGoal] | None, Field(max_length=30, description="Points by goal.")
    ] = None

    def plain(self) -> Any:
        """The answer in the form that is checked; whatever was sent first in this order."""
        if self.confirm is not None:
            return {"confirm": self.confirm}
        if self.directors is not None:
            return [
                {"directorId": str(one.director_id), "institution": one.institution}
                for one in self.directors
            ]
        if self.goals is not None:
            return {
                key: {
                    "claim8020": _number(one.claim_8020),
                    "claim9010": _number(one.claim_9010),
                    "proof": one.proof,
                }
                for key, one in self.goals.items()
            }
        return self.value if self.accept is None else self.accept


def _number(points: Decimal | None) -> str | None:
    return None if points is None else format(points, "f")


class ChangeSbdForm(Body):
    """Answers, a file and at most one move."""

    answers: Annotated[
        dict[FieldId, FormAnswer | None] | None,
        Field(max_length=100, description="Answers by field. Null removes an answer."),
    ] = None
    move: Annotated[
        Literal["complete", "verify", "not_applicable", "reopen"] | None,
        Field(description="Move to make. Completing prints the form."),
    ] = None
    justification: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Why the form does not apply.")
    ] = None
    file_id: Annotated[UUID | None, Field(description="File of a buyer's own form.")] = None


class SignSbdForm(Body):
    """Signature on a printed form."""

    method: Annotated[
        Literal["electronic", "wet_ink"], Field(description="How the form is signed.")
    ]
    capacity: Annotated[str, text(1, 120), Field(description="Capacity of the signer.")]
    rendering_sha256: Annotated[Sha256, Field(description="SHA-256 of the printed form you read.")]
    file_id: Annotated[UUID | None, Field(description="Scan of a form signed in ink.")] = None
