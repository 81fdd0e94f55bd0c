"""The catalogue, the profile and the requirements of a company."""

from thenga.domains.compliance.services.requirements.catalogue import (
    definitions_on,
    document_types_on,
    statement_questions,
    terms_of,
)
from thenga.domains.compliance.services.requirements.profiles import (
    Question,
    change_profile,
    create_profile,
    get_profile,
    questions_of,
    refresh_profile,
)
from thenga.domains.compliance.services.requirements.publishing import (
    DEFINITION,
    DOCUMENT_TYPE,
    ConditionNotUnderstood,
    copy_to_catalogue,
    demand_as_staff,
    find_entry,
    is_staff,
    publish_entry,
    write_entry,
)
from thenga.domains.compliance.services.requirements.requirements import (
    TenderUnknown,
    all_requirements,
    change_requirement,
    create_requirement,
    find_requirement,
    get_requirement,
)
from thenga.domains.compliance.services.requirements.seeding import declared, seed_catalogue

__all__ = [
    "DEFINITION",
    "DOCUMENT_TYPE",
    "ConditionNotUnderstood",
    "Question",
    "TenderUnknown",
    "all_requirements",
    "change_profile",
    "change_requirement",
    "copy_to_catalogue",
    "create_profile",
    "create_requirement",
    "declared",
    "definitions_on",
    "demand_as_staff",
    "document_types_on",
    "find_entry",
    "find_requirement",
    "get_profile",
    "get_requirement",
    "is_staff",
    "publish_entry",
    "questions_of",
    "refresh_profile",
    "seed_catalogue",
    "statement_questions",
    "terms_of",
    "write_entry",
]
