"""The compliance profile of a company, and the catalogue requirements that follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.services import recomputing
from thenga.domains.compliance.services.requirements import facts as company_facts
from thenga.domains.compliance.services.requirements.applicability import (
    asks_for,
    decide,
    subjects_of,
)
from thenga.domains.compliance.services.requirements.catalogue import definitions_on, next_change
from thenga.domains.compliance.services.requirements.facts import CompanyFacts
from thenga.domains.compliance.services.requirements.telling import tell_requirement
from thenga.domains.compliance.tables import (
    Applicability,
    Origin,
    Profile,
    Requirement,
    RequirementDefinition,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, RuleViolated
from thenga.kernel.values.calendar import local_day, local_midnight

ASKED_AGAIN = timedelta(minutes=1)  # while Organization is silent


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is not known yet, and where it is stated."""

    code: str
    kind: str
    remedy: str


async def create_profile(work: Work, *, fields: Mapping[str, Any]) -> Profile:
    """Begin to keep the proofs of a company. Facts that are not known leave questions open."""
    facts = await company_facts.ask(work)
    definitions = await definitions_on(work, local_day(work.now))
    check_answers(fields["answers"], definitions)
    known = await work.find(Profile, organization_id=work.organization_id)
    if known is not None:
        raise _duplicate(known)
    profile = Profile(
        organization_id=work.organization_id, fact_basis=[], facts_missing=[], **fields
    )
    await _note_basis(work, profile, definitions, facts)
    try:
        await work.add(profile)
    except asyncpg.UniqueViolationError:
        raise _duplicate(None) from None
    await _apply(work, profile, definitions, facts)
    await recomputing.mark_due(work)
    work.publish(public.ComplianceProfileCreated(**_told(profile)))
    return profile


async def change_profile(work: Work, profile_id: UUID, *, fields: dict[str, Any]) -> Profile:
    """Change spheres, answers or who is responsible; what applies follows at once."""
    facts = await company_facts.ask(work)
    definitions = await definitions_on(work, local_day(work.now))
    if fields.get("answers") is not None:
        check_answers(fields["answers"], definitions)
    held = await work.lock(Profile, profile_id)
    if "answers" in fields:
        merged = held.answers | (fields["answers"] or {})
        fields["answers"] = {code: value for code, value in merged.items() if value is not None}
    if not merge_patch(held, fields):
        return held
    await _note_basis(work, held, definitions, facts)
    await _apply(work, held, definitions, facts)
    await work.save(held)
    await recomputing.mark_due(work)
    work.publish(public.ComplianceProfileChanged(**_told(held)))
    return held


async def refresh_profile(work: Work) -> None:
    """Decide again what applies: a fact, a director or the catalogue has changed (CMP-4)."""
    found = await work.find(Profile, organization_id=work.organization_id)
    if found is None:
        return
    facts = await company_facts.ask(work)
    definitions = await definitions_on(work, local_day(work.now))
    held = await work.lock(Profile, found.id)
    if facts.is_silent:
        held.next_check_at = work.now + ASKED_AGAIN
    else:
        await _note_basis(work, held, definitions, facts)
        if await _apply(work, held, definitions, facts):
            await recomputing.mark_due(work)
    await work.save(held)


async def get_profile(read: Reader, profile_id: UUID) -> Profile:
    """The profile of the acting company."""
    found = await read.find(Profile, organization_id=read.organization_id, id=profile_id)
    if found is None:
        raise NotFound()
    return found


async def questions_of(read: Reader, profile: Profile) -> list[Question]:
    """What is not known yet: facts that Organization keeps, and answers of this profile."""
    definitions = await definitions_on(read, local_day(read.now))
    conditions = [one.applies_when for one in definitions.values()]
    answers = {name for one in conditions for name in asks_for(one, "answer")}
    company = f"/organizations/{profile.organization_id}/profile"
    own = f"/compliance/profiles/{profile.id}"
    return [
        *(Question(key, "fact", f"PATCH /v1{company}") for key in sorted(profile.facts_missing)),
        *(
            Question(code, "answer", f"PATCH /v1{own}")
            for code in sorted(answers - profile.answers.keys())
        ),
    ]


def check_answers(
    answers: Mapping[str, Any], definitions: Mapping[str, RequirementDefinition]
) -> None:
    """Only questions that the catalogue asks have an answer here; facts belong to Organization."""
    asked = {
        name for one in definitions.values() for name in asks_for(one.applies_when, "answer")
    } | {"bids_in_joint_venture"}
    unknown = sorted(set(answers) - asked)
    if unknown:
        raise RuleViolated(
            "The catalogue does not have the questions in `unknown`. `questions` of the profile "
            "lists the open ones.",
            rule="question-unknown",
            unknown=unknown,
        )


async def _apply(
    work: Work,
    profile: Profile,
    definitions: Mapping[str, RequirementDefinition],
    facts: CompanyFacts,
) -> bool:
    """Write down what applies; whether anything changed."""
    statement = select(Requirement).where(Requirement.origin == Origin.CATALOGUE)
    rows = {row.definition_code: row for row in await work.all(statement)}
    changed = False
    for code, definition in sorted(definitions.items()):
        outcome, because = decide(definition, profile, facts)
        row = rows.get(code)
        subjects = row.subjects if facts.is_silent and row else subjects_of(definition, facts)
        held = _new(work, code) if row is None else await work.lock(Requirement, row.id)
        before = None if row is None else (held.applicability, held.subjects)
        held.applicability, held.because, held.subjects = outcome, because, subjects
        unknown = outcome is Applicability.UNDETERMINED
        held.undetermined_since = (held.undetermined_since or work.now) if unknown else None
        if row is None:
            await work.add(held)
        elif work.changes(held):
            await work.save(held)
        if before != (outcome, subjects):
            changed = True
            tell_requirement(work, held)
    return changed


async def _note_basis(
    work: Work,
    profile: Profile,
    definitions: Mapping[str, RequirementDefinition],
    facts: CompanyFacts,
) -> None:
    asked = {key for one in definitions.values() for key in asks_for(one.applies_when, "fact")}
    profile.fact_basis = [
        {"ref": f"{work.organization_id}:{key}", "version": version}
        for key, version in sorted(facts.versions.items())
        if key in asked
    ]
    profile.facts_missing = sorted(asked - facts.values.keys())
    begins = await next_change(work, local_day(work.now))
    profile.next_check_at = None if begins is None else local_midnight(begins)
    if facts.is_silent:
        profile.next_check_at = work.now + ASKED_AGAIN


def _new(work: Work, code: str) -> Requirement:
    return Requirement(
        organization_id=work.organization_id,
        origin=Origin.CATALOGUE,
        definition_code=code,
        params={},
        subjects=[],
        applicability=Applicability.UNDETERMINED,
        because=[],
    )


def _told(profile: Profile) -> dict[str, Any]:
    return {
        "organization_id": profile.organization_id,
        "profile_id": profile.id,
        "status": profile.status,
        "spheres": profile.spheres,
    }


def _duplicate(known: Profile | None) -> Duplicate:
    return Duplicate(
        "Your organization already has a compliance profile. Change that one.",
        existing=None if known is None else {"id": str(known.id)},
        field="organizationId",
    )
