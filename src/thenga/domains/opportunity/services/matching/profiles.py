"""Match profiles: what matching knows of each company, refreshed when its facts change (OPP-32)."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.opportunity.services.matching.features import ProfileFeatures
from thenga.domains.opportunity.services.matching.profile_inputs import Answers, features_of
from thenga.domains.opportunity.services.matching.tenders import lexemes
from thenga.domains.opportunity.tables import MatchProfile
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work

REFRESH_AFTER = timedelta(seconds=60)  # several changes of one form make one refresh


async def profile_of(read: Reader) -> MatchProfile | None:
    """The profile of this organization; none before Organization announced it."""
    return await read.find(MatchProfile)


def profile_features(profile: MatchProfile | None) -> ProfileFeatures:
    """Its features; those of an unknown company before the first refresh."""
    if profile is None or not profile.features:
        return ProfileFeatures()
    return ProfileFeatures.of_row(profile.features)


async def make_profile(work: Work) -> None:
    """A new organization has a profile from the beginning; its features follow at once."""
    if await profile_of(work) is None:
        await work.add(
            MatchProfile(
                organization_id=work.organization_id,
                features={},
                preferences={},
                blockers=[],
                fact_refs=[],
                next_check_at=work.now,
            )
        )


async def mark_profile_due(work: Work) -> None:
    """Refresh the profile a minute after a change."""
    if await profile_of(work) is None:
        await make_profile(work)
        return
    profile = await work.lock_by(MatchProfile)
    due = work.now + REFRESH_AFTER
    if profile.next_check_at is None or profile.next_check_at > due:
        profile.next_check_at = due
        await work.save(profile)


async def holder_of(read: Reader, profile_id: UUID) -> UUID:
    """The organization whose profile is to be refreshed."""
    return (await read.get(MatchProfile, profile_id)).organization_id


async def store_profile(work: Work, profile_id: UUID, answers: Answers) -> MatchProfile:
    """Keep what the ports answered. The revision moves only if a feature changed."""
    words = await lexemes(work, answers.keywords)
    profile = await work.lock(MatchProfile, profile_id)
    features = features_of(answers, words).to_row()
    if features != profile.features:
        profile.features = features
        profile.revision += 1
    profile.preferences = answers.preferences.document.model_dump(mode="json", by_alias=True)
    profile.preferences_version = answers.preferences.preferences_version
    profile.blockers = sorted(features["blockers"] or [])
    profile.fact_refs = answers.refs
    profile.matching_on = answers.profile.status == "active"
    profile.as_of = work.now
    profile.next_check_at = None
    return await work.save(profile)
