"""Reference data: classifications, municipalities, CIDB grades and the formats of identifiers."""

from thenga.domains.organization.services.reference_data.catalogues import (
    FACTS,
    Definition,
    list_facts,
    seed,
)
from thenga.domains.organization.services.reference_data.cidb import (
    CidbInvalid,
    max_tender_value,
    parse_cidb,
)
from thenga.domains.organization.services.reference_data.classifications import (
    ClassificationInvalid,
    check_classification,
    known_classifications,
    list_classifications,
    matches,
)
from thenga.domains.organization.services.reference_data.identifiers import (
    Checked,
    IdentifierInconsistent,
    IdentifierInvalid,
    cipc,
    csd,
    employer_numbers_agree,
    income_tax,
    lei,
    passport,
    paye,
    sa_id,
    sdl,
    uif,
    vat,
)
from thenga.domains.organization.services.reference_data.json_paths import holds
from thenga.domains.organization.services.reference_data.municipalities import (
    MunicipalityMismatch,
    check_all,
    check_municipality,
    list_municipalities,
)

__all__ = [
    "FACTS",
    "Checked",
    "CidbInvalid",
    "ClassificationInvalid",
    "Definition",
    "IdentifierInconsistent",
    "IdentifierInvalid",
    "MunicipalityMismatch",
    "check_all",
    "check_classification",
    "check_municipality",
    "cipc",
    "csd",
    "employer_numbers_agree",
    "holds",
    "income_tax",
    "known_classifications",
    "lei",
    "list_classifications",
    "list_facts",
    "list_municipalities",
    "matches",
    "max_tender_value",
    "parse_cidb",
    "passport",
    "paye",
    "sa_id",
    "sdl",
    "seed",
    "uif",
    "vat",
]
