"""The names of components in the API document, by rule (docs/decisions/0030).

A name is derived from where a class stands and what it is called, and from nothing else: another
domain, operation or class never changes a name that a client has compiled.
"""

import re
from typing import Any, get_args

from thenga.kernel.errors import Problem
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.document.verbs import PARTICLES, VERBS, pascal, singular

# The kernel's components have no prefix, so each is written down here; none begins like a domain.
KERNEL = {
    "ActorKind": "ActorKind",
    "AllowedMove": "AllowedMove",
    "Audience": "PermissionAudience",
    "ContentStatus": "ContentStatus",
    "Effect": "PermissionEffect",
    "Money": "Money",
    "Progress": "Progress",
    "Reference": "Reference",
    "Sensitivity": "PermissionSensitivity",
    "TimeZoneName": "TimeZoneName",
}
PROBLEM = "Problem"  # and what begins with it: one for each code

_SUFFIXES = ("View", "Body")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")


class Unnamed(TypeError):
    """A class of the kernel is part of the document and has no name in `KERNEL`."""


def component(kind: Any) -> str:
    """The name of a class in the document; `EquipmentView` is `OrganizationEquipment`."""
    if _is(kind, PageOf) and (shown := kind.__pydantic_generic_metadata__["args"]):
        return f"{_of_page(shown[0])}Page"
    parts = kind.__module__.split(".")
    if parts[:2] == ["thenga", "kernel"]:
        if kind.__name__ not in KERNEL:
            raise Unnamed(f"{kind.__module__}.{kind.__name__} has no name in naming.KERNEL")
        return KERNEL[kind.__name__]
    domain = _domain_of(kind)
    inside = _inside(kind, resource_of(kind.__module__))
    return pascal([domain, *(inside[1:] if inside[0] == domain else inside)])


def problem_component(kind: type[Problem]) -> str:
    """The name of a shared problem with the members that a domain declares for it."""
    return f"{pascal([_domain_of(kind)])}{PROBLEM}{kind.__name__}"


def _domain_of(kind: Any) -> str:
    """`thenga.domains.billing.api.plans` is Billing's; a test says it in `__domain__`."""
    parts = kind.__module__.split(".")
    return parts[2] if parts[:2] == ["thenga", "domains"] else getattr(kind, "__domain__", "")


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
    return singular(words)


def _inside(kind: Any, resource: list[str]) -> list[str]:
    """The words of a class inside its domain."""
    words = [word.lower() for word in _HUMP.findall(_bare(kind.__name__))]
    asked = _is(kind, Body)
    moved = asked and words[0] in VERBS
    if moved and len(words) > 1 and words[1] not in PARTICLES:
        return [*words[1:], words[0]]
    # One word says too little beside the domain: `Book`, `Pay`, `Line`.
    if (len(words) == 1 or moved) and singular(words) != resource[-1:]:
        words = [*resource, *words]
    return [*words, "input"] if asked and not moved else words


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _bare(name: str) -> str:
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name
