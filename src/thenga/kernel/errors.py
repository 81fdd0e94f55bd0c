"""Every refusal we expect, as a class with a code, a status and a title.

A domain declares its own beside the rule that raises them; the general ones stand here.
"""

from typing import Any, ClassVar

PROBLEMS: dict[str, type["Problem"]] = {}


class Problem(Exception):
    """A refusal told to a person: what is wrong, and what would be right.

    The docstring of a subclass is what `/problems/{code}` shows, so it says what to do about it.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        known = PROBLEMS.get(cls.code)
        if known is not None and _named(known) != _named(cls):
            raise TypeError(f"problem code {cls.code!r} is declared twice: {known}, {cls}")
        PROBLEMS[cls.code] = cls

    def __init__(
        self, detail: str | None = None, *, headers: dict[str, str] | None = None, **facts: Any
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.headers = headers or {}
        self.facts = facts
        self.keeps = False

    def keeping(self) -> "Problem":
        """A refusal whose effects stay: a thief is refused, and the stolen session ends."""
        self.keeps = True
        return self


def _named(kind: type[Problem]) -> tuple[str, str]:
    """Where a class stands; one that is loaded a second time stands in the same place."""
    return kind.__module__, kind.__qualname__


class MalformedRequest(Problem):
    """The request could not be read. Send well-formed JSON in UTF-8, as the operation describes."""

    code, status, title = "malformed-request", 400, "The request cannot be read"


class InvalidCursor(Problem):
    """A cursor belongs to one list, one caller and one set of filters. Begin again without it."""

    code, status, title = "invalid-cursor", 400, "This cursor does not belong to this list"


class Unauthenticated(Problem):
    """Send `Authorization: Bearer` with an access token from sign-in or with an API key."""

    code, status, title = "unauthenticated", 401, "Sign in first"


class TokenExpired(Problem):
    """The access token is over. Call `POST /identity/auth/refresh` with the refresh token."""

    code, status, title = "token-expired", 401, "The access token has expired"


class SessionRevoked(Problem):
    """This session was ended by its owner, an administrator or a safety rule. Sign in again."""

    code, status, title = "session-revoked", 401, "This session was ended"


class SessionExpired(Problem):
    """The session was not used for too long, or reached its longest life. Sign in again."""

    code, status, title = "session-expired", 401, "This session is over"


class KeyRevoked(Problem):
    """This API key was taken back. Ask whoever manages keys in the organization for another."""

    code, status, title = "key-revoked", 401, "This key was revoked"


class KeyExpired(Problem):
    """This API key reached its last day. Make a new one, or rotate keys before they run out."""

    code, status, title = "key-expired", 401, "This key has expired"


class KeyRotated(Problem):
    """This API key has a successor and its time of grace is over. Use the successor."""

    code, status, title = "key-rotated", 401, "This key was replaced"


class AccountDisabled(Problem):
    """The account cannot be used. Ask the support desk what happened to it."""

    code, status, title = "account-disabled", 401, "This account is disabled"


class MfaRequired(Problem):
    """The sign-in is half done. Answer a challenge of `POST /identity/mfa/challenges`."""

    code, status, title = "mfa-required", 401, "Prove the second factor first"


class EntitlementRequired(Problem):
    """The plan of this organization does not include this. `remedy` names a plan that does."""

    code, status, title = "entitlement-required", 402, "The plan does not include this"


class PlanLimitReached(Problem):
    """The plan's limit is used up. `limit` and `used` say how far; `remedy` says what helps."""

    code, status, title = "plan-limit-reached", 402, "The limit of the plan is reached"


class Forbidden(Problem):
    """You are known and this organization is yours, but your rights do not cover this action.

    `reasonCode` says which rule said no, and `remedy` what would change the answer: usually a
    role that an owner or administrator can give you.
    """

    code, status, title = "forbidden", 403, "You may not do this"


class StepUpRequired(Problem):
    """This action needs a fresh proof of who you are. Use `POST /identity/auth/step-up`."""

    code, status, title = "step-up-required", 403, "A fresh proof is needed"


class TenantSuspended(Problem):
    """The organization is suspended. An owner can see why and ask for it to be lifted."""

    code, status, title = "tenant-suspended", 403, "This organization is suspended"


class TenantRestricted(Problem):
    """This part of the platform is switched off for the organization for now."""

    code, status, title = "tenant-restricted", 403, "This organization is restricted"


class NotFound(Problem):
    """Nothing is here for you. What belongs to somebody else is answered in the same way."""

    code, status, title = "not-found", 404, "There is nothing here"


class MethodNotAllowed(Problem):
    """The address exists, but not with this method. `Allow` lists the methods it knows."""

    code, status, title = "method-not-allowed", 405, "This method is not offered here"


class NotAcceptable(Problem):
    """Answers are JSON. Send `Accept: application/json` or leave the header out."""

    code, status, title = "not-acceptable", 406, "This form of answer is not offered"


class UploadTimeout(Problem):
    """The request took too long to arrive or to be worked on. Try again, in smaller parts."""

    code, status, title = "upload-timeout", 408, "The request took too long"


class Conflict(Problem):
    """What you ask for disagrees with what is stored now. Read it again and decide anew."""

    code, status, title = "conflict", 409, "This conflicts with what is stored"


class Duplicate(Problem):
    """It exists already and may exist once. `existing` refers to the one that is there."""

    code, status, title = "duplicate", 409, "This exists already"


class InvalidTransition(Problem):
    """The resource is in a state from which this operation does not lead anywhere.

    `from` is its state, `operation` what was asked, `allowed` the operations open from here.
    """

    code, status, title = "invalid-transition", 409, "Not possible in the present state"


class FileNotClean(Problem):
    """A file is readable once it was scanned and found clean. `contentStatus` says how far it is.

    One that still waits for its scan can be asked for again in a moment; one that was refused or
    is infected must be replaced.
    """

    code, status, title = "file-not-clean", 409, "This file is not clean"


class IdempotencyInProgress(Problem):
    """The first call with this `Idempotency-Key` is still running. Ask again in a moment."""

    code, status, title = "idempotency-in-progress", 409, "The first call is still running"


class Erased(Problem):
    """It was here and was erased for good; only the fact that it existed is kept."""

    code, status, title = "erased", 410, "This was erased"


class StaleVersion(Problem):
    """Somebody changed it since you read it. Read it again and send the new `ETag`."""

    code, status, title = "stale-version", 412, "This was changed meanwhile"


class TooLarge(Problem):
    """The body is larger than this operation takes. `limitBytes` says how much it takes."""

    code, status, title = "too-large", 413, "The request is too large"


class RangeNotSatisfiable(Problem):
    """The file has no such bytes. `Content-Range` says how many it has."""

    code, status, title = "range-not-satisfiable", 416, "The file is shorter than that"


class UnsupportedMediaType(Problem):
    """Send the body in the media type that the operation describes, mostly application/json."""

    code, status, title = "unsupported-media-type", 415, "This kind of body is not taken here"


class ValidationFailed(Problem):
    """One or more fields are not right. `errors` points at each and says what would be right."""

    code, status, title = "validation-failed", 422, "Some fields are not right"


class RuleViolated(Problem):
    """The fields are well-formed but break a rule of the business. `rule` names it."""

    code, status, title = "rule-violated", 422, "A rule does not allow this"


class IdempotencyKeyReused(Problem):
    """This `Idempotency-Key` was used for another body. Use a new key for a new request."""

    code, status, title = "idempotency-key-reused", 422, "This key was used for another request"


class PreconditionRequired(Problem):
    """Send `If-Match` with the `ETag` of what you read, so that no change of another is lost."""

    code, status, title = "precondition-required", 428, "Say which version you change"


class RateLimited(Problem):
    """Too many calls in this window. Wait as long as `Retry-After` says."""

    code, status, title = "rate-limited", 429, "Too many calls"


class HeadersTooLarge(Problem):
    """The head of a request has at most 32 KB and 100 lines. Send fewer or shorter headers."""

    code, status, title = "headers-too-large", 431, "The headers are too large"


class InternalError(Problem):
    """A defect of ours. Nothing was changed. Tell us the `requestId` and we find the cause."""

    code, status, title = "internal-error", 500, "We made a mistake"


class DependencyUnavailable(Problem):
    """A part this needs does not answer now. Nothing was changed; try again shortly."""

    code, status, title = "dependency-unavailable", 503, "A needed part does not answer"


class Overloaded(Problem):
    """We take no more work than we can finish. Try again after `Retry-After` seconds."""

    code, status, title = "overloaded", 503, "Too much work at once"
