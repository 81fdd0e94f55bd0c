"""Registering, signing in, refreshing, signing out. Public: each carries its own secret."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.identity.api.sessions import SessionView
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import accounts, auth
from thenga.domains.identity.services.auth import (
    FactorNeeded,
    HalfSignedIn,
    LinkSpent,
    PasswordWeak,
    ProofRefused,
    SignedIn,
    SignInRefused,
)
from thenga.domains.identity.services.sessions import StartedSession
from thenga.domains.identity.tables import FactorKind
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RateLimited, SessionExpired, SessionRevoked
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone, writes
from thenga.kernel.http.limits import Rule
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Shared, Sharing
from thenga.kernel.values.fields import Email, matching, text

router = make_router("Identity / Authentication")


def by_address(shared: Shared) -> Rule:
    return shared.rules.auth_address


def by_link(shared: Shared) -> Rule:
    return shared.rules.link_address


Token = Annotated[str, matching("^[a-z]{3}_[0-9A-Za-z]{20,80}$", 90)]
NewPassword = Annotated[str, text(12, 128)]
LOCALES = Literal[
    "af-ZA", "en-ZA", "nr-ZA", "nso-ZA", "ss-ZA", "st-ZA",
    "tn-ZA", "ts-ZA", "ve-ZA", "xh-ZA", "zu-ZA",
]  # fmt: skip


class Register(Body):
    email: Annotated[
        Email, Field(description="Where the link is sent.", examples=["lindiwe@mokoena.co.za"])
    ]
    display_name: Annotated[str, text(1, 120)]
    locale: LOCALES = "en-ZA"


class LinkSent(View):
    outcome: Literal["link_sent"] = "link_sent"


class VerifyAddress(Body):
    token: Annotated[Token, Field(description="The code of the message.")]
    password: Annotated[
        NewPassword, Field(description="12 to 128 characters; four unrelated words are strong.")
    ]


class SignIn(Body):
    method: Literal["password"]
    email: Email
    password: Annotated[str, text(1, 128)]
    device_token: Annotated[
        Token | None,
        Field(description="What an earlier sign-in from this device answered as `deviceToken`."),
    ] = None
    organization_id: Annotated[
        UUID | None,
        Field(description="The organization to begin in; left null where you are no member."),
    ] = None


class Refresh(Body):
    refresh_token: Token


class SignOut(Body):
    scope: Annotated[
        Literal["this", "others", "all"],
        Field(description="This session, all your others, or all of them."),
    ] = "this"


class StepUp(Body):
    password: Annotated[str, text(1, 128)]


class SignedInView(View):
    """A session and the two tokens that use it; neither is shown again."""

    outcome: Literal["signed_in"] = "signed_in"
    session: SessionView
    access_token: Annotated[str | None, SHOWN_ONCE]
    access_expires_at: datetime
    refresh_token: Annotated[str | None, SHOWN_ONCE]
    session_expires_at: datetime
    device_token: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(description="Keep it and send it with the next sign-in; null where it is known."),
    ] = None

    @classmethod
    def of(cls, signed_in: SignedIn | StartedSession, now: datetime) -> "SignedInView":
        return cls(
            session=SessionView.of(signed_in.session, now, current=signed_in.session.id),
            access_token=signed_in.pair.access_token,
            access_expires_at=signed_in.pair.access_expires_at,
            refresh_token=signed_in.pair.refresh_token,
            session_expires_at=signed_in.session.expires_at,
            device_token=signed_in.device_token if isinstance(signed_in, SignedIn) else None,
        )


class ReadyFactor(View):
    id: UUID
    kind: FactorKind
    label: str


class MfaRequiredView(View):
    """The password was right; a challenge with one of the factors completes the sign-in."""

    outcome: Literal["mfa_required"] = "mfa_required"
    pending_token: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(description="The bearer token for `/identity/mfa/challenges` and sign-out, no more."),
    ]
    factors: list[ReadyFactor]
    expires_at: datetime

    @classmethod
    def of(cls, half: HalfSignedIn) -> "MfaRequiredView":
        return cls(
            pending_token=half.pending_token,
            factors=[ReadyFactor.model_validate(one) for one in half.factors],
            expires_at=half.expires_at,
        )


@router.post("/identity/auth/register", status_code=202, responses=problems(RateLimited))
async def register(
    body: Register, work: Annotated[Work, anyone(by_address)], shared: Sharing
) -> LinkSent:
    """Ask for an account. A link goes to the address; the answer is the same for every address.

    Nothing tells whether the address is known. Three letters an hour go to one address.
    """
    await shared.limits.hit(shared.rules.mail_account, accounts.limit_key(work, body.email))
    await auth.register(work, email=body.email, display_name=body.display_name, locale=body.locale)
    return LinkSent()


@router.post("/identity/auth/verify-address", responses=problems(LinkSpent, PasswordWeak))
async def verify_address(
    body: VerifyAddress, work: Annotated[Work, anyone(by_link)], shared: Sharing
) -> SignedInView:
    """Prove the address with the code of the message and set the password; signs in at once."""
    await shared.limits.hit(shared.rules.hashing)
    signed_in = await auth.verify_address(work, token=body.token, password=body.password)
    return SignedInView.of(signed_in, work.now)


@router.post("/identity/auth/sign-in", responses=problems(SignInRefused))
async def sign_in(
    body: SignIn, work: Annotated[Work, anyone(by_address)], shared: Sharing
) -> SignedInView | MfaRequiredView:
    """Sign in with address and password. Every refusal is the same `sign-in-refused`.

    Ten tries a minute for one account and sixty for one network address. Ten wrong passwords
    close the account for a quarter of an hour, except for devices it was signed in from before.
    With a second factor the answer is `mfa_required`: create a challenge and answer it with
    `pendingToken` as the bearer token.
    """
    counted = await auth.counted_as(work, email=body.email, device_token=body.device_token)
    await shared.limits.hit(shared.rules.auth_account, counted.limit_key)
    if counted.device is None:  # strangers cannot use up what a person on their own device needs
        await shared.limits.hit(shared.rules.hashing)
    result = await auth.sign_in(
        work, counted, password=body.password, organization_id=body.organization_id
    )
    if isinstance(result, HalfSignedIn):
        return MfaRequiredView.of(result)
    return SignedInView.of(result, work.now)


@router.post("/identity/auth/refresh", responses=problems(SessionRevoked, SessionExpired))
async def refresh(body: Refresh, work: Annotated[Work, anyone(by_address)]) -> SignedInView:
    """The next pair of tokens. The same refresh token again within 30 seconds gives the same pair.

    Used later than that, it ends the session: somebody else may have it.
    """
    started = await auth.refresh(work, refresh_token=body.refresh_token)
    return SignedInView.of(started, work.now)


@router.post("/identity/auth/sign-out")
async def sign_out(
    body: SignOut, work: Annotated[Work, writes(Permission.SESSION_SIGN_OUT, keyed=False)]
) -> SessionView:
    """End the session that calls, all your others, or all. Their tokens are dead at once."""
    session = await auth.sign_out(work, scope=body.scope)
    return SessionView.of(session, work.now, current=session.id)


@router.post("/identity/auth/step-up", responses=problems(ProofRefused, FactorNeeded))
async def step_up(
    body: StepUp,
    work: Annotated[Work, writes(Permission.PROOF_RENEW, keyed=False)],
    shared: Sharing,
) -> SessionView:
    """Prove again who you are, with your password; good for five minutes.

    Who has a second factor proves with that: a challenge of purpose `step_up`.
    """
    await shared.limits.hit(shared.rules.auth_account, str(work.actor.id))
    await shared.limits.hit(shared.rules.hashing)
    session = await auth.step_up(work, password=body.password)
    return SessionView.of(session, work.now, current=session.id)
