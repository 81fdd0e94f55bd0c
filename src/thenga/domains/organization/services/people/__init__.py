"""People: directors, contacts, users, client references and addresses."""

from thenga.domains.organization.services.people.addresses import (
    add_address,
    address_warnings,
    archive_address,
    change_address,
    list_addresses,
)
from thenga.domains.organization.services.people.client_references import (
    ReferenceLimit,
    SelfReference,
    add_client_reference,
    archive_client_reference,
    change_client_reference,
    contacts_of,
    erase_client_reference,
    list_client_references,
    withdraw_client_reference,
)
from thenga.domains.organization.services.people.contacts import (
    add_contact,
    archive_contact,
    change_contact,
    erase_contact,
    get_contact,
    list_contacts,
    status_of,
)
from thenga.domains.organization.services.people.directors import (
    KeptByLaw,
    Portrait,
    id_numbers,
    portrait,
    portraits,
    verification_on,
)
from thenga.domains.organization.services.people.directors import add as add_director
from thenga.domains.organization.services.people.directors import archive as archive_director
from thenga.domains.organization.services.people.directors import change as change_director
from thenga.domains.organization.services.people.directors import erase as erase_director
from thenga.domains.organization.services.people.directors import get as get_director
from thenga.domains.organization.services.people.directors import list_all as list_directors
from thenga.domains.organization.services.people.directors import reappoint as reappoint_director
from thenga.domains.organization.services.people.directors import resign as resign_director
from thenga.domains.organization.services.people.directors import verify as verify_director
from thenga.domains.organization.services.people.flags import (
    FLAGS,
    Given,
    Statement,
    effective_flags,
)
from thenga.domains.organization.services.people.users import (
    Described,
    accept_user,
    add_user,
    archive_user,
    change_user,
    get_user,
    list_users,
    refresh_user,
    signs_on,
)

__all__ = [
    "FLAGS",
    "Described",
    "Given",
    "KeptByLaw",
    "Portrait",
    "ReferenceLimit",
    "SelfReference",
    "Statement",
    "accept_user",
    "add_address",
    "add_client_reference",
    "add_contact",
    "add_director",
    "add_user",
    "address_warnings",
    "archive_address",
    "archive_client_reference",
    "archive_contact",
    "archive_director",
    "archive_user",
    "change_address",
    "change_client_reference",
    "change_contact",
    "change_director",
    "change_user",
    "contacts_of",
    "effective_flags",
    "erase_client_reference",
    "erase_contact",
    "erase_director",
    "get_contact",
    "get_director",
    "get_user",
    "id_numbers",
    "list_addresses",
    "list_client_references",
    "list_contacts",
    "list_directors",
    "list_users",
    "portrait",
    "portraits",
    "reappoint_director",
    "refresh_user",
    "resign_director",
    "signs_on",
    "status_of",
    "verification_on",
    "verify_director",
    "withdraw_client_reference",
]
