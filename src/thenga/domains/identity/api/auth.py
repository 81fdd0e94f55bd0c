"""Registering, signing in, refreshing, signing out. Public: each carries its own secret."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, RootModel, model_validator

from thenga.domains.identity.api.sessions import SessionView
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import accounts, auth, providers
from thenga.domains.identity.services.auth import (
    FactorNeeded,
    HalfSignedIn,
    LinkSpent,
    PasswordWeak,
    ProofRefused,
    SignedIn,
    SignInRefused,
)
from thenga.domains.identity.services.providers import LinkRequired, ProviderPending
from thenga.domains.identity.services.sessions import StartedSession
from thenga.domains.identity.tables import FactorKind
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RateLimited, SessionExpired, SessionRevoked
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
    """Account to create."""

    email: Annotated[
        Email,
        Field(
            description="Email address that the link is sent to.",
            examples=["lindiwe@mokoena.co.za"],
        ),
    ]
    display_name: Annotated[str, text(1, 120)]
    locale: LOCALES = "en-ZA"


class LinkSent(View):
    """A link was sent, if the address can receive one."""

    outcome: Literal["link_sent"] = "link_sent"


class VerifyAddress(Body):
    """Code from the letter and the first password."""

    token: Annotated[Token, Field(description="Code from the letter.")]
    password: Annotated[
        NewPassword, Field(description="12 to 128 characters; four unrelated words are strong.")
    ]


class SignInWithPassword(Body):
    """Email address and password."""

    method: Literal["password"]
    email: Email
    password: Annotated[str, text(1, 128)]
    device_token: Annotated[
        Token | None,
        Field(description="`deviceToken` from an earlier sign-in on this device."),
    ] = None
    organization_id: Annotated[
        UUID | None,
        Field(description="Organization to start in. Null if you are not a member of any."),
    ] = None


class SignInWithProvider(Body):
    """Ticket that the browser brought back from an identity provider."""

    method: Literal["provider"]
    ticket: Annotated[
        Token, Field(description="`ticket` from the address that the browser returned to.")
    ]
    flow_secret: Annotated[Token, Field(description="`flowSecret` from the start of this sign-in.")]


class SignIn(
    RootModel[Annotated[SignInWithPassword | SignInWithProvider, Field(discriminator="method")],]
):
    """How to sign in: with a password or with an identity provider."""

    @model_validator(mode="before")
    @classmethod
    def _with_method(cls, sent: Any) -> Any:
        """A body that names no method is the one with a password."""
        if isinstance(sent, dict) and "method" not in sent:
            return sent | {"method": "password"}
        return sent


class Refresh(Body):
    """Refresh token to exchange."""

    refresh_token: Token


class SignOut(Body):
    """Sessions to end."""

    scope: Annotated[
        Literal["this", "others", "all"],
        Field(description="Sessions to end: this one, all others, or all."),
    ] = "this"


class StepUp(Body):
    """Password, as recent proof of identity."""

    password: Annotated[str, text(1, 128)]


class SignedInView(View):
    """A session and its two tokens. The tokens are not shown again."""

    outcome: Literal["signed_in"] = "signed_in"
    session: SessionView
    access_token: Annotated[str | None, SHOWN_ONCE]
    access_expires_at: datetime
    refresh_token: Annotated[str | None, SHOWN_ONCE]
    session_expires_at: datetime
    device_token: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(
            description=(
                "Token of this device. Send it with the next sign-in. Null for a known device."
            )
        ),
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
    """A second factor that can be used."""

    id: UUID
    kind: FactorKind
    label: str


class MfaRequiredView(View):
    """The first proof was correct. Complete the sign-in with a challenge for one of the factors."""

    outcome: Literal["mfa_required"] = "mfa_required"
    pending_token: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(
            description="Bearer token that works only for `/identity/mfa/challenges` and sign-out."
        ),
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
    """Create an account. A link is sent to the email address.

    The answer is the same for every address, so it does not reveal whether an account exists. At
    most three letters an hour are sent to one address.
    """
    account = accounts.limit_key(work, body.email)
    await shared.limits.hit(shared.rules.registration_account, account)
    await auth.register(work, email=body.email, display_name=body.display_name, locale=body.locale)
    return LinkSent()


@router.post("/identity/auth/verify-address", responses=problems(LinkSpent, PasswordWeak))
async def verify_address(
    body: VerifyAddress, work: Annotated[Work, anyone(by_link)], shared: Sharing
) -> SignedInView:
    """Confirm the email address with the code from the letter, set the password and sign in."""
    await shared.limits.hit(shared.rules.hashing)
    signed_in = await auth.verify_address(work, token=body.token, password=body.password)
    return SignedInView.of(signed_in, work.now)


@router.post(
    "/identity/auth/sign-in",
    responses=problems(SignInRefused, LinkRequired, ProviderPending, Duplicate),
)
async def sign_in(
    body: SignIn, work: Annotated[Work, anyone(by_address)], shared: Sharing
) -> Annotated[SignedInView | MfaRequiredView, Field(discriminator="outcome")]:
    """Sign in with a password or an identity provider. A refusal is always `sign-in-refused`.

    Limits are ten attempts a minute for one account and sixty for one network address. Ten wrong
    passwords lock the account for 15 minutes, except on devices that signed in before. With a
    second factor the answer is `mfa_required`: create a challenge and answer it with `pendingToken`
    as the bearer token. With a provider, repeat the request while the answer is
    `identity-provider-pending`.
    """
    asked = body.root
    if isinstance(asked, SignInWithProvider):
        return _view_of(
            work,
            await providers.sign_in(work, ticket=asked.ticket, flow_secret=asked.flow_secret),
        )
    counted = await auth.counted_as(work, email=asked.email, device_token=asked.device_token)
    await shared.limits.hit(shared.rules.auth_account, counted.limit_key)
    if counted.device is None:  # strangers cannot use up what a person on their own device needs
        await shared.limits.hit(shared.rules.hashing)
    result = await auth.sign_in(
        work, counted, password=asked.password, organization_id=asked.organization_id
    )
    return _view_of(work, result)


def _view_of(work: Work, result: SignedIn | HalfSignedIn) -> SignedInView | MfaRequiredView:
    if isinstance(result, HalfSignedIn):
        return MfaRequiredView.of(result)
    return SignedInView.of(result, work.now)


@router.post("/identity/auth/refresh", responses=problems(SessionRevoked, SessionExpired))
async def refresh(body: Refresh, work: Annotated[Work, anyone(by_address)]) -> SignedInView:
    """Exchange the refresh token for a new pair of tokens.

    Repeating it within 30 seconds returns the same pair. Using an old refresh token later ends the
    session, because it may have been stolen.
    """
    started = await auth.refresh(work, refresh_token=body.refresh_token)
    return SignedInView.of(started, work.now)


@router.post("/identity/auth/sign-out")
async def sign_out(
    body: SignOut, work: Annotated[Work, writes(Permission.SESSION_SIGN_OUT, keyed=False)]
) -> SessionView:
    """Sign out of this session, your other sessions or all of them.

    Their tokens stop working at once.
    """
    session = await auth.sign_out(work, scope=body.scope)
    return SessionView.of(session, work.now, current=session.id)


@router.post("/identity/auth/step-up", responses=problems(ProofRefused, FactorNeeded))
async def step_up(
    body: StepUp,
    work: Annotated[Work, writes(Permission.PROOF_RENEW, keyed=False)],
    shared: Sharing,
) -> SessionView:
    """Confirm your identity with your password. The proof is valid for five minutes.

    With a second factor, use a challenge with purpose `step_up` instead.
    """
    await shared.limits.hit(shared.rules.auth_account, str(work.actor.id))
    await shared.limits.hit(shared.rules.hashing)
    session = await auth.step_up(work, password=body.password)
    return SessionView.of(session, work.now, current=session.id)
