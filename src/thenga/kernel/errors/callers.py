"""Refusals about who asks: credentials, rights, plan and the standing of the organization."""

from thenga.kernel.errors.problem import OF_GATE, Number, Problem, extensions


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
    members = extensions(
        **OF_GATE,
        entitlement=(str | None, "Entitlement that the plan does not include."),
        limit=(Number, "Quantity that the plan includes."),
        used=(Number, "Quantity used."),
    )


class PlanLimitReached(Problem):
    """The organization has used all that its plan includes.

    `limit` and `used` give the figures; `remedy` says what helps.
    """

    code, status, title = "plan-limit-reached", 402, "The plan limit is reached"
    members = extensions(
        **OF_GATE,
        entitlement=(str | None, "Entitlement whose limit is reached."),
        limit=(Number, "Quantity that the plan includes."),
        used=(Number, "Quantity used."),
    )


class Forbidden(Problem):
    """Your roles do not allow this action.

    `reasonCode` names the rule that refused it and `remedy` says what would change the answer,
    usually a role to ask for.
    """

    code, status, title = "forbidden", 403, "You do not have permission"
    members = extensions(**OF_GATE)


class SamePerson(Problem):
    """The rule needs two people, and you did the first part yourself.

    Ask someone else who holds this permission to decide.
    """

    code, status, title = "same-person", 403, "Another person must decide this"


class StepUpRequired(Problem):
    """This action needs recent proof of identity.

    Call `POST /identity/auth/step-up`, then try again.
    """

    code, status, title = "step-up-required", 403, "Confirm your identity first"
    members = extensions(
        **OF_GATE,
        maxAgeSeconds=(int, "Maximum age of the verification, in seconds."),
        methods=(list[str], "Verification methods you can use."),
    )


class TenantSuspended(Problem):
    """The organization is suspended. An owner can see the reason and ask support to lift it."""

    code, status, title = "tenant-suspended", 403, "This organization is suspended"
    members = extensions(**OF_GATE)


class TenantRestricted(Problem):
    """This feature is switched off for the organization. Contact support to find out why."""

    code, status, title = "tenant-restricted", 403, "This organization is restricted"
    members = extensions(**OF_GATE)
