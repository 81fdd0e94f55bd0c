"""Refusals about what is asked: its form, its target, its version, and what answers it."""

from typing import Any

from thenga.kernel.errors.problem import ERRORS, OF_GATE, Problem, extensions


class MalformedRequest(Problem):
    """The request could not be parsed.

    Send well-formed JSON in UTF-8, as the operation describes.
    """

    code, status, title = "malformed-request", 400, "The request cannot be read"


class InvalidCursor(Problem):
    """A cursor is valid for one list, one caller and one set of filters. Start again without it."""

    code, status, title = "invalid-cursor", 400, "This cursor is not valid"


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
    members = extensions(
        existing=(dict[str, Any] | None, "ID of the existing resource."),
        field=(str, "Field whose value must be unique."),
    )


class InvalidTransition(Problem):
    """The current status does not allow this operation.

    `from` is the current status, `operation` what was requested and `allowed` the operations that
    are possible now.
    """

    code, status, title = "invalid-transition", 409, "Not possible in the current status"
    members = extensions(
        **{"from": (str, "Current status.")},
        operation=(str, "Requested operation."),
        allowed=(list[str], "Operations that are possible now."),
        unmet=(list[str], "Reason it is not possible."),
    )


class NotASandbox(Problem):
    """Only a sandbox has a clock of its own. Create one with `mode: sandbox` and move its clock."""

    code, status, title = "not-a-sandbox", 409, "This organization is not a sandbox"


class FileNotClean(Problem):
    """A file can be read once it was scanned and found clean. `contentStatus` is its status.

    If it is still waiting for its scan, try again in a moment. If it was refused or is infected,
    upload another file.
    """

    code, status, title = "file-not-clean", 409, "This file is not available"
    members = extensions(contentStatus=(str, "Upload and scan status."))


class IdempotencyInProgress(Problem):
    """The first request with this `Idempotency-Key` is still running. Try again in a moment."""

    code, status, title = "idempotency-in-progress", 409, "The first request is still running"


class Erased(Problem):
    """The data was permanently erased. Only the fact that it existed is kept."""

    code, status, title = "erased", 410, "This was erased"


class StaleVersion(Problem):
    """Someone changed it after you read it. Read it again and send the new `ETag` as `If-Match`."""

    code, status, title = "stale-version", 412, "This has changed since you read it"
    members = extensions(
        currentVersion=(int, "Current version."),
        changedFields=(list[str], "Fields that changed since the version you read."),
    )


class TooLarge(Problem):
    """The request body exceeds the limit of this operation. `limitBytes` is the limit."""

    code, status, title = "too-large", 413, "The request body is too large"
    members = extensions(limitBytes=(int, "Maximum size in bytes."))


class RangeNotSatisfiable(Problem):
    """The file is shorter than the requested range. `Content-Range` says how long it is."""

    code, status, title = "range-not-satisfiable", 416, "The range is outside the file"


class UnsupportedMediaType(Problem):
    """Send the body in the content type that the operation describes: `application/json`."""

    code, status, title = "unsupported-media-type", 415, "Unsupported content type"
    members = extensions(
        found=(str, "Content type that was sent."),
        allowed=(list[str], "Accepted content types."),
    )


class ValidationFailed(Problem):
    """One or more fields are not valid.

    `errors` points at each of them and says what is expected.
    """

    code, status, title = "validation-failed", 422, "Some fields are not valid"
    members = extensions(errors=ERRORS)


class RuleViolated(Problem):
    """The fields are well-formed but break a business rule. `rule` names the rule."""

    code, status, title = "rule-violated", 422, "A business rule does not allow this"
    members = extensions(
        rule=(str, "Rule that was broken."),
        field=(str, "Field that breaks the rule, for example `lines/0/amount`."),
        missing=(list[str], "Missing values."),
        unknown=(list[str], "Unknown values."),
        allowed=(list[str], "Accepted values."),
        keys=(list[str], "Entries that are not valid."),
        kind=(str, "Actual kind."),
        limit=(int, "Maximum number."),
        used=(int, "Current number."),
    )


class SearchTooBroad(Problem):
    """The search matches too much to be answered in time.

    Add one of `filters`, or search for a rarer word.
    """

    code, status, title = "search-too-broad", 422, "The search is too broad"
    members = extensions(filters=(list[str], "Filters that would narrow the search."))


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
    members = extensions(
        policy=(str, "Limit that was reached."),
        limit=(int, "Requests allowed per window."),
        windowSeconds=(int, "Length of the window in seconds."),
        retryAfterSeconds=(int, "Seconds to wait."),
    )


class InternalError(Problem):
    """An unexpected error occurred and nothing was changed.

    Contact support with the `requestId`.
    """

    code, status, title = "internal-error", 500, "Something went wrong on our side"


class DependencyUnavailable(Problem):
    """A service that this request needs did not respond. Nothing was changed. Try again shortly."""

    code, status, title = "dependency-unavailable", 503, "A required service is unavailable"
    members = extensions(
        **OF_GATE,
        dependency=(str, "Service that did not respond."),
    )


class Overloaded(Problem):
    """Too many requests are being processed.

    Try again after the number of seconds in `Retry-After`.
    """

    code, status, title = "overloaded", 503, "The service is busy"
