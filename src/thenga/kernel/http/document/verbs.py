"""The names of operations, by rule (docs/decisions/0030): `organization.equipment.add`.

Imports nothing of ours, so that `thenga where` can name an operation while a domain is broken.
"""

from collections.abc import Sequence

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
    "accept",
    "acknowledge",
    "activate",
    "advance",
    "answer",
    "approve",
    "archive",
    "ask",
    "assign",
    "authorize",
    "buy",
    "cancel",
    "change",
    "claim",
    "close",
    "confirm",
    "convert",
    "deactivate",
    "decide",
    "decline",
    "deprecate",
    "disable",
    "discontinue",
    "dismiss",
    "draft",
    "enable",
    "erase",
    "explain",
    "inspect",
    "invite",
    "issue",
    "leave",
    "maintain",
    "make",
    "migrate",
    "moderate",
    "move",
    "open",
    "pause",
    "pay",
    "preview",
    "print",
    "propose",
    "publish",
    "reactivate",
    "read",
    "reappoint",
    "receive",
    "record",
    "refresh",
    "refund",
    "register",
    "reject",
    "release",
    "remove",
    "replay",
    "report",
    "request",
    "resend",
    "reserve",
    "resign",
    "resolve",
    "resume",
    "retire",
    "retry",
    "return",
    "review",
    "revoke",
    "roll",
    "rotate",
    "seal",
    "settle",
    "sign",
    "start",
    "step",
    "submit",
    "switch",
    "triage",
    "undo",
    "unlock",
    "unpark",
    "verify",
    "withdraw",
    "write",
)
VERBS = frozenset((*READING, *CREATING, *(v for one in BY_METHOD.values() for v in one), *MOVES))
# Words that belong to the verb before them: `sign_in`, `write_off_invoice`.
PARTICLES = ("in", "out", "up", "off", "to", "default")


def operation_id(domain: str, module: str, function: str) -> str:
    """`add_equipment` in `organization/api/equipment.py` is `organization.equipment.add`."""
    resource = module.rpartition(".")[2]
    return f"{domain}.{_camel(resource.split('_'))}.{_camel(_action(domain, resource, function))}"


def _action(domain: str, resource: str, function: str) -> list[str]:
    """The words of a function without those that name its resource."""
    verb, *rest = function.split("_")
    whole = singular(resource.split("_"))
    if rest[:1] == [domain] and len(rest) > 1:
        rest = rest[1:]  # `open_billing_account` in billing
    for noun in (whole, whole[-1:]):  # `add_service` in offered_services
        if singular(rest)[: len(noun)] == noun:
            return [verb, *rest[len(noun) :]]
        if rest[:1] and rest[0] in PARTICLES and singular(rest)[-len(noun) :] == noun:
            return [verb, *rest[: -len(noun)]]
    return [verb, *rest]


def singular(words: Sequence[str]) -> list[str]:
    """Each word as it is said of one."""
    return [_one_of(word) for word in words]


def _one_of(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def pascal(words: Sequence[str]) -> str:
    """Words as the name of a class."""
    return "".join(word[:1].upper() + word[1:] for word in words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + pascal(words[1:])
