"""Directors, members, trustees, partners and owners of a company."""

from thenga.domains.organization.services.people.directors._checking import verify
from thenga.domains.organization.services.people.directors._ending import (
    KeptByLaw,
    archive,
    erase,
    reappoint,
    resign,
)
from thenga.domains.organization.services.people.directors._reading import (
    Portrait,
    get,
    id_numbers,
    list_all,
    portrait,
    portraits,
    verification_on,
)
from thenga.domains.organization.services.people.directors._recording import add, change

__all__ = [
    "KeptByLaw",
    "Portrait",
    "add",
    "archive",
    "change",
    "erase",
    "get",
    "id_numbers",
    "list_all",
    "portrait",
    "portraits",
    "reappoint",
    "resign",
    "verification_on",
    "verify",
]
