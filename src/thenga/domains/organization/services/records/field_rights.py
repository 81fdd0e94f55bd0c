"""Rights to single fields of a body, asked of Identity beyond the right to the operation."""

from uuid import UUID

from thenga.domains.identity import public as identity
from thenga.kernel.access import gate
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ERRORS, Problem, extensions


class FieldForbidden(Problem):
    """You can use this operation but not set this field. `errors` points at it.

    Leave the field out, or ask someone with the permission to set it.
    """

    code, status, title = "organization-field-forbidden", 403, "You cannot set this field"
    members = extensions(errors=ERRORS)


async def demand(work: Work, permission: str, *, pointer: str, type: str, id: UUID) -> None:  # noqa: A002
    """Refuse a field unless Identity allows the permission that it needs; before any write."""
    actor, decisions = work.actor, work.port(identity.Decisions)
    assert actor.id is not None  # noqa: S101  # the entrance has let somebody in
    decided = await decisions.check(
        actor=identity.ActorRef(
            type="user" if actor.kind is ActorKind.USER else "api_key",
            id=actor.id,
            session_id=actor.session_id,
        ),
        organization_id=work.organization_id,
        action=permission,
        resource=identity.ResourceRef(type=type, id=str(id)),
        channel="http",
        request_id=work.origin.request_id,
    )
    if decided.decision != "allow":
        raise forbidden(pointer, f"You need the permission {permission} to set this field.")


def refuse_denied(decision: identity.Decision, permission: str) -> None:
    """Answer a denied decision as the entrance of an operation would."""
    if decision.decision == "deny":
        refusal = gate.Refusal(
            reason_code=decision.reason_code,
            remedy=decision.remedy,
            decision_id=decision.decision_id,
        )
        raise gate.problem_of(refusal, permission)


def forbidden(pointer: str, detail: str) -> FieldForbidden:
    told = {"pointer": pointer, "code": "field_forbidden", "detail": detail}
    return FieldForbidden(detail, errors=[told])
