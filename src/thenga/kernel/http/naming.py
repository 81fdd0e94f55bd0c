"""The names of the API document: operations and components, by rule (docs/decisions/0030).

Both are derived from where a function or class stands and what it is called, and from nothing
else: another domain, operation or class never changes a name that a client has compiled.
"""

import re
from collections.abc import Sequence
from typing import Any, get_args

from thenga.kernel.http.bodies import Body, PageOf

# What an operation does to a resource, by method; a client finds the same word at every resource.
READING = ("list", "get")
CREATING = ("add", "create")
BY_METHOD = {
    "PATCH": ("change",),
    "PUT": ("replace",),
    "DELETE": ("remove", "archive", "forget"),
}
# Whatever else can be done, each word once. A new one is added here, after a look for its like.
MOVES = (
    *("accept", "activate", "advance", "answer", "archive", "ask", "assign", "authorize", "buy"),
    *("cancel", "change", "claim", "close", "confirm", "convert", "deactivate", "decline"),
    *("deprecate", "disable", "discontinue", "draft", "enable", "erase", "explain", "inspect"),
    *("invite", "issue", "leave", "maintain", "make", "migrate", "move", "open", "pause", "pay"),
    *("preview", "print", "propose", "publish", "reactivate", "reappoint", "receive", "record"),
    *("refresh", "refund", "register", "reject", "release", "remove", "replay", "report"),
    *("request", "resend", "reserve", "resign", "resolve", "resume", "retire", "retry", "return"),
    *(
        "revoke",
        "rotate",
        "settle",
        "sign",
        "start",
        "step",
        "switch",
        "undo",
        "unlock",
        "unpark",
        "verify",
    ),
    *("withdraw", "write"),
)
VERBS = frozenset((*READING, *CREATING, *(v for one in BY_METHOD.values() for v in one), *MOVES))
# Words that belong to the verb before them: `sign_in`, `write_off_invoice`.
_PARTICLES = ("in", "out", "up", "off", "to", "default")

# The kernel's components have no prefix, so each is written down here; none begins like a domain.
KERNEL = {
    "ActorKind": "ActorKind",
    "AllowedMove": "AllowedMove",
    "Audience": "PermissionAudience",
    "Effect": "PermissionEffect",
    "Money": "Money",
    "Sensitivity": "PermissionSensitivity",
    "TimeZoneName": "TimeZoneName",
}
PROBLEM = "Problem"  # and what begins with it: one for each code

_SUFFIXES = ("View", "Body")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")


class Unnamed(TypeError):
    """A class of the kernel is part of the document and has no name in `KERNEL`."""


def operation_id(domain: str, module: str, function: str) -> str:
    """`add_equipment` in `organization/api/equipment.py` is `organization.equipment.add`."""
    resource = module.rpartition(".")[2]
    return f"{domain}.{_camel(resource.split('_'))}.{_camel(_action(domain, resource, function))}"


def _action(domain: str, resource: str, function: str) -> list[str]:
    """The words of a function without those that name its resource."""
    verb, *rest = function.split("_")
    whole = _singular(resource.split("_"))
    if rest[:1] == [domain] and len(rest) > 1:
        rest = rest[1:]  # `open_billing_account` in billing
    for noun in (whole, whole[-1:]):  # `add_service` in offered_services
        if _singular(rest)[: len(noun)] == noun:
            return [verb, *rest[len(noun) :]]
        if rest[:1] and rest[0] in _PARTICLES and _singular(rest)[-len(noun) :] == noun:
            return [verb, *rest[: -len(noun)]]
    return [verb, *rest]


def component(kind: Any) -> str:
    """The name of a class in the document; `EquipmentView` is `OrganizationEquipment`."""
    if _is(kind, PageOf) and (shown := kind.__pydantic_generic_metadata__["args"]):
        return f"{_of_page(shown[0])}Page"
    parts = kind.__module__.split(".")
    if parts[:2] == ["thenga", "kernel"]:
        if kind.__name__ not in KERNEL:
            raise Unnamed(f"{kind.__module__}.{kind.__name__} has no name in naming.KERNEL")
        return KERNEL[kind.__name__]
    domain = parts[2] if parts[:2] == ["thenga", "domains"] else getattr(kind, "__domain__", "")
    inside = _inside(kind, resource_of(kind.__module__))
    return _pascal([domain, *(inside[1:] if inside[0] == domain else inside)])


def _of_page(shown: object) -> str:
    """Of a list whose items differ, the first kind gives the name."""
    while not isinstance(shown, type):
        shown = get_args(shown)[0]
    return component(shown)


def resource_of(module: str) -> list[str]:
    """`organization.api.director_views` is about the director."""
    words = module.rpartition(".")[2].split("_")
    if len(words) > 1 and words[-1] in ("views", "bodies"):
        words = words[:-1]
    return _singular(words)


def _inside(kind: Any, resource: list[str]) -> list[str]:
    """The words of a class inside its domain."""
    words = [word.lower() for word in _HUMP.findall(_bare(kind.__name__))]
    asked = _is(kind, Body)
    moved = asked and words[0] in VERBS
    if moved and len(words) > 1 and words[1] not in _PARTICLES:
        return [*words[1:], words[0]]
    # One word says too little beside the domain: `Book`, `Pay`, `Line`.
    if (len(words) == 1 or moved) and _singular(words) != resource[-1:]:
        words = [*resource, *words]
    return [*words, "input"] if asked and not moved else words


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _bare(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name


def _singular(words: Sequence[str]) -> list[str]:
    return [_one_of(word) for word in words]


def _one_of(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _pascal(words: Sequence[str]) -> str:
    return "".join(word[:1].upper() + word[1:] for word in words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + _pascal(words[1:])
