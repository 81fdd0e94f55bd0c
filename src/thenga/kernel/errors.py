"""Every refusal we expect, as a class with a code, a status and a title.

A domain declares its own beside the rule that raises them; the general ones stand here.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import TypedDict

PROBLEMS: dict[str, type["Problem"]] = {}
Member = tuple[Any, str]  # the type on the wire, and what it says
Number = int | float | None


class FieldError(TypedDict):
    """One thing that is wrong in what was sent."""

    pointer: str
    code: str
    detail: str


def told(**members: Member) -> Mapping[str, Member]:
    """What a problem says beside the members of all problems; none of them is always there."""
    return members


ERRORS: Member = (list[FieldError], "What is wrong, each with a pointer to its place.")
# A refusal of the gate says who decided, and what would help.
OF_GATE = told(
    action=(str, "The permission that was asked for."),
    reasonCode=(str, "The rule that said no."),
    decisionId=(str | None, "The decision, where it is kept."),
    remedy=(dict[str, Any] | None, "What would change the answer."),
)


class Problem(Exception):
    """A refusal for a person to read: what is wrong and what to do next.

    The docstring of a subclass is shown at `/problems/{code}`, so it says what to do about it.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    members: ClassVar[Mapping[str, Member]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        known = PROBLEMS.get(cls.code)
        if known is not None and _named(known) != _named(cls):
            raise TypeError(f"problem code {cls.code!r} is declared twice: {known}, {cls}")
        PROBLEMS[cls.code] = cls

    def __init__(
        self, detail: str | None = None, *, headers: dict[str, str] | None = None, **facts: Any
    ) -> None:
        self.detail = detail or page_of(type(self))
        super().__init__(self.detail)
        self.headers = headers or {}
        self.facts = facts
        self.keeps = False

    def keeping(self) -> "Problem":
        """A refusal whose effects stay: a thief is refused, and the stolen session ends."""
        self.keeps = True
        return self


def page_of(kind: type[Problem]) -> str:
    """What `/problems/{code}` says; also the detail of a refusal that has no detail of its own."""
    return " ".join((kind.__doc__ or kind.title).split())


def _named(kind: type[Problem]) -> tuple[str, str]:
    """Where a class stands; one that is loaded a second time stands in the same place."""
    return kind.__module__, kind.__qualname__


class MalformedRequest(Problem):
    """The request could not be parsed.

    Send well-formed JSON in UTF-8, as the operation describes.
    """

    code, status, title = "malformed-request", 400, "The request cannot be read"


class InvalidCursor(Problem):
    """A cursor is valid for one list, one caller and one set of filters. Start again without it."""

    code, status, title = "invalid-cursor", 400, "This cursor is not valid"


class Unauthenticated(Problem):
    """Send `Authorization: Bearer` with an access token from sign-in or an API key."""

    code, status, title = "unauthenticated", 401, "Sign in first"


class TokenExpired(Problem):
    """The access token has expired. Call `POST /identity/auth/refresh` with the refresh token."""

    code, status, title = "token-expired", 401, "The access token has expired"


class SessionRevoked(Problem):
    """The session was ended by its owner, an administrator or a security rule. Sign in again."""

    code, status, title = "session-revoked", 401, "This session has ended"


class SessionExpired(Problem):
    """The session was unused for too long or reached its maximum age. Sign in again."""

    code, status, title = "session-expired", 401, "This session has expired"


class KeyRevoked(Problem):
    """This API key was revoked.

    Ask someone who manages API keys in your organization for a new one.
    """

    code, status, title = "key-revoked", 401, "This API key was revoked"


class KeyExpired(Problem):
    """This API key has passed its expiry date.

    Create a new key, or rotate keys before they expire.
    """

    code, status, title = "key-expired", 401, "This API key has expired"


class KeyRotated(Problem):
    """This API key was rotated and its grace period has ended. Use the key that replaced it."""

    code, status, title = "key-rotated", 401, "This API key was replaced"


class AccountDisabled(Problem):
    """This account can no longer sign in. Contact support to find out why."""

    code, status, title = "account-disabled", 401, "This account is disabled"


class MfaRequired(Problem):
    """Sign-in is not complete.

    Create a challenge with `POST /identity/mfa/challenges` and answer it.
    """

    code, status, title = "mfa-required", 401, "A second factor is required"


class EntitlementRequired(Problem):
    """The plan of this organization does not include this feature.

    `remedy` names a plan that does.
    """

    code, status, title = "entitlement-required", 402, "Not included in the plan"
    members = told(
        **OF_GATE,
        entitlement=(str | None, "What the plan does not include."),
        limit=(Number, "How much the plan includes."),
        used=(Number, "How much of it is used."),
    )


class PlanLimitReached(Problem):
    """The organization has used all that its plan includes.

    `limit` and `used` give the figures; `remedy` says what helps.
    """

    code, status, title = "plan-limit-reached", 402, "The plan limit is reached"
    members = told(
        **OF_GATE,
        entitlement=(str | None, "Whose limit is reached."),
        limit=(Number, "How much the plan includes."),
        used=(Number, "How much of it is used."),
    )


class Forbidden(Problem):
    """Your roles do not allow this action.

    `reasonCode` names the rule that refused it and `remedy` says what would change the answer,
    usually a role to ask for.
    """

    code, status, title = "forbidden", 403, "You do not have permission"
    members = told(**OF_GATE)


class StepUpRequired(Problem):
    """This action needs recent proof of identity.

    Call `POST /identity/auth/step-up`, then try again.
    """

    code, status, title = "step-up-required", 403, "Confirm your identity first"
    members = told(
        **OF_GATE,
        maxAgeSeconds=(int, "How old the proof may be."),
        methods=(list[str], "By what you can prove it."),
    )


class TenantSuspended(Problem):
    """The organization is suspended. An owner can see the reason and ask support to lift it."""

    code, status, title = "tenant-suspended", 403, "This organization is suspended"
    members = told(**OF_GATE)


class TenantRestricted(Problem):
    """This feature is switched off for the organization. Contact support to find out why."""

    code, status, title = "tenant-restricted", 403, "This organization is restricted"
    members = told(**OF_GATE)


class NotFound(Problem):
    """It does not exist, or it belongs to someone else.

    Check the identifier and the organization.
    """

    code, status, title = "not-found", 404, "Not found"


class MethodNotAllowed(Problem):
    """This address does not support the method.

    The `Allow` header lists the methods that it supports.
    """

    code, status, title = "method-not-allowed", 405, "Method not allowed"


class NotAcceptable(Problem):
    """Responses are JSON. Send `Accept: application/json` or leave the header out."""

    code, status, title = "not-acceptable", 406, "Only JSON is available"


class UploadTimeout(Problem):
    """The request took too long to arrive or to process. Try again with a smaller request."""

    code, status, title = "upload-timeout", 408, "The request took too long"


class Conflict(Problem):
    """The request conflicts with what is stored now. Read the resource again before you retry."""

    code, status, title = "conflict", 409, "This conflicts with stored data"


class Duplicate(Problem):
    """Only one of these can exist. `existing` identifies the one that is already there."""

    code, status, title = "duplicate", 409, "This already exists"
    members = told(
        existing=(dict[str, Any] | None, "The one that is there."),
        field=(str, "The field that may hold a value once."),
    )


class InvalidTransition(Problem):
    """The current status does not allow this operation.

    `from` is the current status, `operation` what was requested and `allowed` the operations that
    are possible now.
    """

    code, status, title = "invalid-transition", 409, "Not possible in the current status"


class NotASandbox(Problem):
    """Only a sandbox has a clock of its own. Create one with `mode: sandbox` and move its clock."""

    code, status, title = "not-a-sandbox", 409, "This organization is not a sandbox"
    members = told(
        **{"from": (str, "The state that it is in.")},
        operation=(str, "What was asked."),
        allowed=(list[str], "What is open from this state."),
        unmet=(list[str], "What stands in the way."),
    )


class IdempotencyInProgress(Problem):
    """The first request with this `Idempotency-Key` is still running. Try again in a moment."""

    code, status, title = "idempotency-in-progress", 409, "The first request is still running"


class Erased(Problem):
    """The data was permanently erased. Only the fact that it existed is kept."""

    code, status, title = "erased", 410, "This was erased"


class StaleVersion(Problem):
    """Someone changed it after you read it. Read it again and send the new `ETag` as `If-Match`."""

    code, status, title = "stale-version", 412, "This has changed since you read it"
    members = told(
        currentVersion=(int, "The version that is stored."),
        changedFields=(list[str], "What differs from the version you read."),
    )


class TooLarge(Problem):
    """The request body exceeds the limit of this operation. `limitBytes` is the limit."""

    code, status, title = "too-large", 413, "The request body is too large"
    members = told(limitBytes=(int, "How many bytes are taken here."))


class UnsupportedMediaType(Problem):
    """Send the body in the content type that the operation describes: `application/json`."""

    code, status, title = "unsupported-media-type", 415, "Unsupported content type"


class ValidationFailed(Problem):
    """One or more fields are not valid.

    `errors` points at each of them and says what is expected.
    """

    code, status, title = "validation-failed", 422, "Some fields are not valid"
    members = told(errors=ERRORS)


class RuleViolated(Problem):
    """The fields are well-formed but break a business rule. `rule` names the rule."""

    code, status, title = "rule-violated", 422, "A business rule does not allow this"
    members = told(
        rule=(str, "The rule that is broken."),
        field=(str, "The field that breaks it."),
        missing=(list[str], "What is missing."),
        unknown=(list[str], "What is not known."),
        allowed=(list[str], "What would be taken."),
        keys=(list[str], "The entries that do not fit."),
        kind=(str, "The kind that it has."),
        limit=(int, "How many there may be."),
        used=(int, "How many there are."),
    )


class IdempotencyKeyReused(Problem):
    """This `Idempotency-Key` was used with a different request body.

    Use a new key for a new request.
    """

    code, status, title = "idempotency-key-reused", 422, "This key was used for another request"


class PreconditionRequired(Problem):
    """Send `If-Match` with the `ETag` that you read, so that no other change is overwritten."""

    code, status, title = "precondition-required", 428, "The If-Match header is required"


class RateLimited(Problem):
    """You sent too many requests. Wait the number of seconds in `Retry-After`, then try again."""

    code, status, title = "rate-limited", 429, "Too many requests"
    members = told(
        policy=(str, "The limit that was met."),
        limit=(int, "How many calls a window takes."),
        windowSeconds=(int, "How long a window is."),
        retryAfterSeconds=(int, "How long to wait."),
    )


class HeadersTooLarge(Problem):
    """Request headers are limited to 32 KB and 100 lines. Send fewer or shorter headers."""

    code, status, title = "headers-too-large", 431, "The request headers are too large"


class InternalError(Problem):
    """An unexpected error occurred and nothing was changed.

    Contact support with the `requestId`.
    """

    code, status, title = "internal-error", 500, "Something went wrong on our side"


class DependencyUnavailable(Problem):
    """A service that this request needs did not respond. Nothing was changed. Try again shortly."""

    code, status, title = "dependency-unavailable", 503, "A required service is unavailable"
    members = told(
        **OF_GATE,
        dependency=(str, "The part that does not answer."),
    )


class Overloaded(Problem):
    """Too many requests are being processed.

    Try again after the number of seconds in `Retry-After`.
    """

    code, status, title = "overloaded", 503, "The service is busy"
