"""The kinds of table, and the row security that each kind means.

A kind says who sees a row. Four settings of the transaction are compared with the row: the
organization, the person, what was presented (a hash), and whether staff act on the platform.
"""

from dataclasses import dataclass
from enum import Enum

ORGANIZATION = "nullif(current_setting('app.organization_id', true), '')::uuid"
PERSON = "nullif(current_setting('app.user_id', true), '')::uuid"
PRESENTED = "decode(nullif(current_setting('app.presented', true), ''), 'hex')"
PLATFORM = "current_setting('app.platform', true) = 'on'"
# A chain has the identifier of the organization or the person whose rows it links.
CHAIN = f"chain = {ORGANIZATION} OR chain = {PERSON} OR {PLATFORM}"


@dataclass(frozen=True)
class Guard:
    """Who reads and who writes; `None` means that the application's login cannot at all."""

    reads: str | None
    writes: str | None
    key: tuple[str, ...]
    holder: tuple[str, ...] = ()  # columns that must be there and not null
    beside: tuple[str, ...] = ()  # columns that must be there and may be null
    index: tuple[str, ...] = ()  # by which the other side finds its rows
    appends: bool = False  # what is written stays: the application's login changes nothing


class Kind(Enum):
    """What a table is for; the lint knows no other."""

    PRIVATE = Guard(
        f"organization_id = {ORGANIZATION}",
        f"organization_id = {ORGANIZATION}",
        ("organization_id", "id"),
        ("organization_id",),
    )
    PERSONAL = Guard(f"user_id = {PERSON}", f"user_id = {PERSON}", ("user_id", "id"), ("user_id",))
    # The organization and the person are the two parties of a membership.
    TWO_PARTY = Guard(
        f"organization_id = {ORGANIZATION} OR user_id = {PERSON}",
        f"organization_id = {ORGANIZATION} OR user_id = {PERSON}",
        ("organization_id", "id"),
        ("organization_id", "user_id"),
    )
    # Two organizations; what one side alone may see or write stands in a private table of its own.
    BETWEEN = Guard(
        f"organization_id = {ORGANIZATION} OR counterparty_id = {ORGANIZATION}",
        f"organization_id = {ORGANIZATION} OR counterparty_id = {ORGANIZATION}",
        ("organization_id", "id"),
        ("organization_id",),
        beside=("counterparty_id",),
        index=("counterparty_id", "id"),
    )
    # A person, and the organization that pays for it if there is one.
    SPONSORED = Guard(
        f"organization_id = {ORGANIZATION} OR user_id = {PERSON}",
        f"organization_id = {ORGANIZATION} OR user_id = {PERSON}",
        ("user_id", "id"),
        ("user_id",),
        beside=("organization_id",),
        index=("organization_id", "id"),
    )
    BEARER = Guard(f"hash = {PRESENTED}", f"hash = {PRESENTED}", ("hash",), ("hash",))
    CATALOGUE = Guard("true", None, ("id",))
    PUBLISHED = Guard(
        "true",
        f"organization_id = {ORGANIZATION}",
        ("organization_id", "id"),
        ("organization_id",),
    )
    # A public notice: its keeper writes it, and `shared` says whether others read it. Everybody
    # finds it by its identifier.
    NOTICE = Guard(
        f"shared OR organization_id = {ORGANIZATION}",
        f"organization_id = {ORGANIZATION}",
        ("id",),
        ("organization_id", "shared"),
        index=("organization_id", "id"),
    )
    # What strangers send us: any unit of work adds, staff read, only the system login works on it.
    INTAKE = Guard(PLATFORM, "true", ("id",), appends=True)
    PLATFORM = Guard(PLATFORM, PLATFORM, ("id",))
    # The kernel's own journals (outbox, inbox, audit): the application adds, only the system
    # login reads. `organization_id` may be null; if it is not, it is the caller's.
    LEDGER = Guard(
        None,
        f"organization_id IS NULL OR organization_id = {ORGANIZATION}",
        ("id",),
    )

    # The audit trail: added like a ledger, read by whose chain it is, changed by nobody.
    JOURNAL = Guard(
        CHAIN,
        f"organization_id IS NULL OR organization_id = {ORGANIZATION}",
        ("id",),
        ("chain",),
        appends=True,
    )
    # The ends of chains: only the system login writes them.
    CHAIN = Guard(CHAIN, None, ("chain", "id"), ("chain",))

    @property
    def key(self) -> tuple[str, ...]:
        return self.value.key
