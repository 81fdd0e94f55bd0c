"""Second factors: an authenticator app, recovery codes, and the challenges they answer."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.identity.api.auth import SignedInView
from thenga.domains.identity.api.sessions import SessionView
from thenga.domains.identity.lifecycles import FactorLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import mfa
from thenga.domains.identity.services.auth import ProofRefused
from thenga.domains.identity.services.mfa import FactorDemanded, FactorStopped
from thenga.domains.identity.tables import (
    ChallengeStatus,
    FactorKind,
    FactorStatus,
    MfaFactor,
)
from thenga.kernel.db.paging import Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Sharing
from thenga.kernel.values.fields import matching, text

router = make_router("Identity / Second factor")
FactorId = Annotated[UUID, Path(alias="factorId")]
ChallengeId = Annotated[UUID, Path(alias="challengeId")]
Code = Annotated[str, matching("^[0-9]{6}$", 6)]
Reason = Annotated[str, text(1, 500)]


class RegisterFactor(Body):
    """Second factor to set up."""

    kind: Annotated[
        FactorKind,
        Field(description="`totp` for an authenticator app, `recovery_codes` for ten codes."),
    ]
    label: Annotated[str, text(1, 60)] | None = None
    reason: Reason | None = None


class VerifyFactor(Body):
    """First code of a new factor."""

    code: Annotated[
        Code, Field(description="Code that the authenticator app shows now.", examples=["287082"])
    ]


class DisableFactor(Body):
    """Reason for turning off a factor."""

    reason: Reason | None = None


class CreateChallenge(Body):
    """Challenge to create."""

    purpose: Annotated[
        Literal["sign_in", "step_up"],
        Field(
            description="`sign_in` with a pending token, `step_up` for recent proof of identity."
        ),
    ]
    factor_id: Annotated[
        UUID | None, Field(description="Factor to use. Takes precedence over `kind`.")
    ] = None
    kind: FactorKind = FactorKind.TOTP


class AnswerChallenge(Body):
    """Answer to a challenge: a code or a recovery code."""

    code: Annotated[Code | None, Field(description="Code from the authenticator app.")] = None
    recovery_code: Annotated[
        Annotated[str, matching("^[0-9A-Za-z -]{24,40}$", 40)] | None,
        Field(description="Recovery code, for a challenge of kind `recovery_codes`."),
    ] = None


class FactorView(Stored):
    """A second factor. Its secret was shown once, when it was created."""

    own_path: ClassVar[None] = None  # read in the list alone
    kind: FactorKind
    label: str
    status: FactorStatus
    ready: Annotated[bool, Field(description="Whether the factor can answer a challenge now.")]
    stopped: Annotated[
        bool,
        Field(
            description="Whether the factor is blocked for a day after five wrong codes in a row."
        ),
    ]
    stopped_at: datetime | None
    last_used_at: datetime | None
    expires_at: Annotated[
        datetime | None,
        Field(description="Time until which the factor waits for its first code."),
    ]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, factor: MfaFactor, now: datetime) -> "FactorView":
        return cls.model_validate(_shown(factor, now))


class NewFactorView(FactorView):
    """A new factor with what is shown only once: a secret to scan, or ten codes."""

    secret: Annotated[
        str | None, SHOWN_ONCE, Field(description="Secret to type into the authenticator app.")
    ] = None
    otpauth_uri: Annotated[str | None, SHOWN_ONCE] = None
    qr_svg: Annotated[
        str | None, SHOWN_ONCE, Field(description="QR code to scan with the authenticator app.")
    ] = None
    codes: Annotated[
        list[str] | None, SHOWN_ONCE, Field(description="Recovery codes. Each works once.")
    ] = None


def _shown(factor: MfaFactor, now: datetime) -> dict[str, object]:
    active, stopped = factor.status is FactorStatus.ACTIVE, factor.is_stopped(now)
    return factor.__dict__ | {
        "ready": active and not stopped,
        "stopped": stopped,
        "stopped_at": factor.stopped_at if stopped else None,
        "allowed_moves": FactorLifecycle.allowed(factor, now),
    }


class ChallengeView(Stored):
    """A challenge for the session that requested it. Three wrong codes end it."""

    own_path: ClassVar[None] = None  # answered once, read nowhere
    purpose: str
    kind: FactorKind
    status: ChallengeStatus
    expires_at: datetime


class ProvenView(View):
    """Recent proof of identity for the session that asked."""

    outcome: Literal["proven"] = "proven"
    session: SessionView


@router.post(
    "/identity/mfa/factors", status_code=201, responses=problems(Duplicate, InvalidTransition)
)
async def register_factor(
    body: RegisterFactor, work: Annotated[Work, writes(Permission.FACTOR_MANAGE, keyed=False)]
) -> NewFactorView:
    """Set up a second factor. Needs recent proof of identity.

    `totp`: scan `qrSvg` with an authenticator app and send its code to `/verify` within ten
    minutes. `recovery_codes`: ten codes, shown once; a new set replaces the old one.
    """
    made = await mfa.register(work, kind=body.kind, label=body.label)
    return NewFactorView.model_validate(
        _shown(made.factor, work.now)
        | {
            "secret": made.secret,
            "otpauth_uri": made.otpauth_uri,
            "qr_svg": made.qr_svg,
            "codes": made.codes,
        }
    )


@router.get("/identity/mfa/factors")
async def list_factors(
    read: Annotated[Reader, reads(Permission.FACTOR_READ)],
) -> PageOf[FactorView]:
    """List your second factors and whether each is ready or blocked. There are at most ten."""
    found = Slice(await mfa.list_own(read), None)
    now = read.now
    return PageOf[FactorView].of(found, lambda factor: FactorView.of(factor, now))


@router.post(
    "/identity/mfa/factors/{factorId}/verify",
    responses=problems(ProofRefused, InvalidTransition),
)
async def verify_factor(
    factor_id: FactorId,
    body: VerifyFactor,
    work: Annotated[Work, writes(Permission.FACTOR_MANAGE, keyed=False)],
    shared: Sharing,
) -> FactorView:
    """Send the first code of a new factor to activate it. From then on sign-in asks for it."""
    await shared.limits.hit(shared.rules.auth_account, str(work.actor.id))
    factor = await mfa.verify(work, factor_id, code=body.code)
    return FactorView.of(factor, work.now)


@router.post(
    "/identity/mfa/factors/{factorId}/disable",
    responses=problems(FactorDemanded, InvalidTransition),
)
async def disable_factor(
    factor_id: FactorId,
    body: DisableFactor,
    work: Annotated[Work, writes(Permission.FACTOR_MANAGE, keyed=False)],
) -> FactorView:
    """Turn off a factor. Needs recent proof with a factor. Your other sessions end."""
    factor = await mfa.disable(work, factor_id)
    return FactorView.of(factor, work.now)


@router.post(
    "/identity/mfa/challenges", status_code=201, responses=problems(FactorStopped, RuleViolated)
)
async def create_challenge(
    body: CreateChallenge, work: Annotated[Work, writes(Permission.CHALLENGE_USE, keyed=False)]
) -> ChallengeView:
    """Create a challenge to complete a sign-in or to confirm your identity.

    It is valid for five minutes. The answer does not reveal whether you have a factor of that kind.
    """
    made = await mfa.challenge(work, purpose=body.purpose, factor_id=body.factor_id, kind=body.kind)
    return ChallengeView.model_validate(made)


@router.post(
    "/identity/mfa/challenges/{challengeId}/verify",
    responses=problems(ProofRefused, FactorStopped),
)
async def answer_challenge(
    challenge_id: ChallengeId,
    body: AnswerChallenge,
    work: Annotated[Work, writes(Permission.CHALLENGE_USE, keyed=False)],
    shared: Sharing,
) -> Annotated[SignedInView | ProvenView, Field(discriminator="outcome")]:
    """Answer a challenge with a code from the app or a recovery code.

    A pending sign-in is completed and receives its tokens; a full session gets a recent proof. Five
    wrong codes in a row, across sign-ins, block the factor. Recovery codes are counted separately:
    five attempts an hour.
    """
    who = str(work.actor.id)
    await shared.limits.hit(shared.rules.auth_account, who)
    if body.recovery_code is not None:
        await shared.limits.hit(shared.rules.recovery_account, who)
    proven = await mfa.answer(work, challenge_id, code=body.code, recovery_code=body.recovery_code)
    if proven.signed_in is not None:
        return SignedInView.of(proven.signed_in, work.now)
    session = SessionView.of(proven.session, work.now, current=proven.session.id)
    return ProvenView(session=session)
