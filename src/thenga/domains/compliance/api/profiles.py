"""The compliance profile of an organization."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.compliance.permissions import Permission
from thenga.domains.compliance.services import requirements, summaries
from thenga.domains.compliance.tables import Profile
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import matching

router = make_router("Compliance / Profiles")

ProfileId = Annotated[UUID, Path(alias="profileId", description="ID of the profile.")]
Sphere = Literal["national", "provincial", "municipal", "state_company"]
Spheres = Annotated[
    list[Sphere],
    Field(min_length=1, max_length=4, description="Spheres of government you sell to."),
]
QuestionCode = Annotated[str, matching("^[a-z][a-z_]{2,39}$", 40)]
Responsible = Annotated[UUID | None, Field(description="Person responsible for compliance.")]


class CreateProfile(Body):
    """A new compliance profile."""

    spheres: Spheres
    answers: Annotated[
        dict[QuestionCode, bool],
        Field(max_length=30, description="Answers to catalogue questions, by code."),
    ] = {}
    responsible_user_id: Responsible = None


class ChangeProfile(Body):
    """Fields to update. Send null to remove an answer."""

    spheres: Spheres = ["national"]
    answers: Annotated[
        dict[QuestionCode, bool | None],
        Field(max_length=30, description="Answers to change. Others stay unchanged."),
    ] = {}
    responsible_user_id: Responsible = None


class FactBasisView(View):
    """A fact of the organization that was used."""

    ref: Annotated[str, Field(description="Organization ID and key of the fact.")]
    version: Annotated[int, Field(description="Version of the fact that was used.")]


class QuestionView(View):
    """A missing fact or answer."""

    code: Annotated[str, Field(description="Code of the question, or key of the fact.")]
    kind: Annotated[
        Literal["fact", "answer"],
        Field(description="`fact` is kept by Organization, `answer` by this profile."),
    ]
    remedy: Annotated[str, Field(description="Operation to call to supply it.")]


class ReadinessSummaryView(View):
    """Readiness when it was last computed."""

    verdict: Annotated[str | None, Field(description="Verdict. Null until it is computed.")]
    score: Annotated[Decimal | None, Field(description="Score from 0 to 100.")]
    as_of: Annotated[datetime | None, Field(description="When it was computed.")]


class AssessmentCounts(View):
    """Number of requirements by their assessment today."""

    met: Annotated[int, Field(description="Proven and sufficiently verified.")]
    provisional: Annotated[int, Field(description="Proven, but not sufficiently verified.")]
    partially_met: Annotated[int, Field(description="Proven for only some of the subjects.")]
    missing: Annotated[int, Field(description="Without proof.")]
    expired: Annotated[int, Field(description="With expired proof.")]
    failed: Annotated[int, Field(description="With proof that failed verification.")]
    unknown: Annotated[int, Field(description="Not known yet.")]
    not_applicable: Annotated[int, Field(description="Not applicable to this company.")]


class ProfileView(Stored):
    """A compliance profile."""

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/compliance/profiles/{self.id}"

    organization_id: Annotated[UUID, Field(description="Organization of the profile.")]
    status: Annotated[str, Field(description="Status.")]
    spheres: Spheres
    answers: Annotated[dict[str, bool], Field(description="Answers given, by code.")]
    responsible_user_id: Responsible
    fact_basis: Annotated[
        list[FactBasisView], Field(description="Facts of the organization that were used.")
    ]
    questions: Annotated[list[QuestionView], Field(description="Missing facts and answers.")]
    counts: Annotated[AssessmentCounts, Field(description="Requirements by assessment.")]
    readiness: Annotated[ReadinessSummaryView, Field(description="Readiness of the company.")]
    next_check_at: Annotated[
        datetime | None, Field(description="When applicability is next recomputed.")
    ]

    @classmethod
    async def read_of(cls, read: Reader, profile: Profile) -> "ProfileView":
        questions = await requirements.questions_of(read, profile)
        summary = await summaries.summary_of(read)
        return cls.shown(
            profile.__dict__
            | {
                "fact_basis": [FactBasisView.model_validate(one) for one in profile.fact_basis],
                "questions": [QuestionView.model_validate(one) for one in questions],
                "counts": AssessmentCounts.model_validate(summary.counts),
                "readiness": ReadinessSummaryView(
                    verdict=summary.verdict, score=summary.score, as_of=summary.as_of
                ),
            }
        )


@router.post(
    "/organizations/{organizationId}/compliance-profile",
    status_code=201,
    responses=problems(Duplicate, RuleViolated),
)
async def create_compliance_profile(
    body: CreateProfile,
    work: Annotated[Work, writes(Permission.PROFILE_CREATE)],
) -> ProfileView:
    """Create your organization's compliance profile. It decides which requirements apply.

    Requirements with missing facts or answers are `undetermined`; `questions` lists what is
    missing.
    """
    profile = await requirements.create_profile(work, fields=body.model_dump())
    return await ProfileView.read_of(work, profile)


@router.get("/compliance/profiles/{profileId}")
async def get_compliance_profile(
    profile_id: ProfileId, read: Annotated[Reader, reads(Permission.PROFILE_READ)]
) -> ProfileView:
    """Get a compliance profile with its open questions and its readiness."""
    return await ProfileView.read_of(read, await requirements.get_profile(read, profile_id))


@router.patch("/compliance/profiles/{profileId}", responses=problems(RuleViolated))
async def change_compliance_profile(
    profile_id: ProfileId,
    body: ChangeProfile,
    work: Annotated[Work, writes(Permission.PROFILE_UPDATE)],
) -> ProfileView:
    """Update the fields you send. Applicable requirements are recomputed at once."""
    fields: dict[str, Any] = body.changes()
    profile = await requirements.change_profile(work, profile_id, fields=fields)
    return await ProfileView.read_of(work, profile)
