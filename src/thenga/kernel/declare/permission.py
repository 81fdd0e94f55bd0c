"""What the permission catalogue says of a permission: who may hold it and how sensitive it is."""

from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """Whether a permission only reads or also changes data."""

    READ = "read"
    WRITE = "write"


class Audience(StrEnum):
    """Group whose data a permission applies to."""

    PERSON = "person"
    TENANT = "tenant"
    PLATFORM = "platform"
    SERVICE = "service"
    SANDBOX = "sandbox"  # the keys of a sandbox, where nothing is at stake


class Sensitivity(StrEnum):
    """How much damage misuse of a permission can cause."""

    NORMAL = "normal"
    SENSITIVE = "sensitive"
    MONEY = "money"
    ADMINISTRATION = "administration"


_READING = ("read", "list", "export")


@dataclass(frozen=True)
class Granted:
    """What the permission catalogue says of one permission (IDN-23)."""

    code: str
    title: str
    audiences: tuple[Audience, ...]
    roles: tuple[str, ...] = ()
    sensitivity: Sensitivity = Sensitivity.NORMAL
    feature: str | None = None
    while_suspended: bool = False
    owner_only: bool = False  # not even an administrator holds it
    closed_to_keys: bool = False
    closed_to_agents: bool = False  # keys may use it, agents never
    people_only: bool = False  # no key, service or agent ever uses it: `person_required`
    # Resource types, as `bid.workspace`, under which its resources hang; a right that is held only
    # on one of these passes, and the service keeps to the obligation `limit_to` (IDN-26).
    scopes: tuple[str, ...] = ()
    half: bool = False  # open to a sign-in that still needs its second factor

    @property
    def effect(self) -> Effect:
        return Effect.READ if self.code.split(":")[2] in _READING else Effect.WRITE

    @property
    def keys(self) -> bool:
        if self.people_only:
            return False
        normal = self.sensitivity is Sensitivity.NORMAL and not self.closed_to_keys
        return normal or Audience.SANDBOX in self.audiences

    @property
    def agents(self) -> str:
        closed = self.people_only or self.closed_to_agents
        if closed or self.sensitivity is not Sensitivity.NORMAL:
            return "never"
        return "allowed" if self.effect is Effect.READ else "with_approval"
