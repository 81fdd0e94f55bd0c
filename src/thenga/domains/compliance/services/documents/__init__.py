"""Documents: papers, their files and facts, scanned before anyone reads them (CMP-7 to 13, 44)."""

from thenga.domains.compliance.services.documents.cards import classes_of, describe, open_file
from thenga.domains.compliance.services.documents.classes import (
    PERSONAL,
    SIGHT_OF_ALL,
    Sight,
    check_readable,
    person_may_read,
    sight_of,
)
from thenga.domains.compliance.services.documents.documents import (
    Changed,
    PurposeRequired,
    add_document,
    change_document,
    change_type,
    get_document,
    version_of_facts,
)
from thenga.domains.compliance.services.documents.downloads import (
    Download,
    Link,
    make_link,
    open_ticket,
)
from thenga.domains.compliance.services.documents.facts import (
    UNDATED,
    plain_attributes,
    set_last_day,
)
from thenga.domains.compliance.services.documents.inspection import (
    Structure,
    destroy,
    is_due_for_destruction,
    record_outcome,
)
from thenga.domains.compliance.services.documents.queries import (
    DocumentFilters,
    Found,
    links_of,
    list_documents,
    versions_of,
)
from thenga.domains.compliance.services.documents.rights import demand, is_staff
from thenga.domains.compliance.services.documents.types import type_in_force
from thenga.domains.compliance.services.documents.uploads import (
    ContentMismatch,
    DigestMismatch,
    Received,
    TypeRefused,
    inspect_version,
    receive,
)

__all__ = [
    "PERSONAL",
    "SIGHT_OF_ALL",
    "UNDATED",
    "Changed",
    "ContentMismatch",
    "DigestMismatch",
    "DocumentFilters",
    "Download",
    "Found",
    "Link",
    "PurposeRequired",
    "Received",
    "Sight",
    "Structure",
    "TypeRefused",
    "add_document",
    "change_document",
    "change_type",
    "check_readable",
    "classes_of",
    "demand",
    "describe",
    "destroy",
    "get_document",
    "inspect_version",
    "is_due_for_destruction",
    "is_staff",
    "links_of",
    "list_documents",
    "make_link",
    "open_file",
    "open_ticket",
    "person_may_read",
    "plain_attributes",
    "receive",
    "record_outcome",
    "set_last_day",
    "sight_of",
    "type_in_force",
    "version_of_facts",
    "versions_of",
]
