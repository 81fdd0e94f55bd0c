"""Which requirements of the catalogue apply to a company, decided in three values (CMP-4)."""

from typing import Any

from thenga.domains.compliance.services.requirements.facts import CompanyFacts
from thenga.domains.compliance.tables import Applicability, Profile, RequirementDefinition
from thenga.domains.compliance.values.conditions import Cited, Condition, Known, evaluate, names_of

_OUTCOMES = {
    True: Applicability.APPLICABLE,
    False: Applicability.NOT_APPLICABLE,
    None: Applicability.UNDETERMINED,
}
_WORDS = {True: "yes", False: "no", None: "unknown"}


def decide(
    definition: RequirementDefinition, profile: Profile, facts: CompanyFacts
) -> tuple[Applicability, list[dict[str, Any]]]:
    """Whether a definition applies, and what that rests on."""
    if not set(definition.spheres) & set(profile.spheres):
        return Applicability.NOT_APPLICABLE, [_because("sphere", "spheres", "no", None)]
    cited: list[Cited] = []
    known = Known(facts=facts.values, answers=profile.answers, spheres=profile.spheres)
    outcome = evaluate(definition.applies_when, known, cited)
    return _OUTCOMES[outcome], [
        _because(one.subject, one.name, _WORDS[one.outcome], _version(one, facts)) for one in cited
    ]


def subjects_of(definition: RequirementDefinition, facts: CompanyFacts) -> list[dict[str, Any]]:
    """Whom a requirement is about: the company, each of its directors, or both."""
    company: list[dict[str, Any]] = [{"kind": "organization", "ref": None}]
    directors: list[dict[str, Any]] = [
        {"kind": "director", "ref": str(one)} for one in facts.directors
    ]
    if definition.per_subject == "organization":
        return company
    return directors if definition.per_subject == "director" else company + directors


def asks_for(condition: Condition, subject: str) -> set[str]:
    """The facts or the answers that a condition compares."""
    return names_of(condition, subject)


def _because(subject: str, name: str, outcome: str, version: int | None) -> dict[str, Any]:
    return {"kind": subject, "name": name, "outcome": outcome, "version": version}


def _version(one: Cited, facts: CompanyFacts) -> int | None:
    return facts.versions.get(one.name) if one.subject == "fact" else None
