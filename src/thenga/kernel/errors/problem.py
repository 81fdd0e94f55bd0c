"""What a problem is: a refusal with a code, a status, a title and what to do next."""

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import TypedDict

PROBLEMS: dict[str, type["Problem"]] = {}
Member = tuple[Any, str]  # the type on the wire, and what it says
Number = int | float | None


class FieldError(TypedDict):
    """One thing that is wrong in what was sent."""

    pointer: str
    code: str
    detail: str


def extensions(**members: Member) -> Mapping[str, Member]:
    """Extension members of a problem (RFC 9457), each optional, with its type and description."""
    return members


ERRORS: Member = (list[FieldError], "Fields that are not valid, each with a JSON pointer.")
# A refusal of the gate says who decided, and what would help.
OF_GATE = extensions(
    action=(str, "Permission that was checked."),
    reasonCode=(str, "Rule that refused the request."),
    decisionId=(str | None, "ID of the decision, if it was recorded."),
    remedy=(dict[str, Any] | None, "What would allow the request."),
)


class Problem(Exception):
    """A refusal for a person to read: what is wrong and what to do next.

    The docstring of a subclass is shown at `/problems/{code}`, so it says what to do about it.
    A subclass of a shared problem without a `code` of its own is that problem with the further
    members of one domain: `members = extensions(**Shared.members, …)`.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    members: ClassVar[Mapping[str, Member]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.is_declared():
            return
        known = PROBLEMS.get(cls.code)
        if known is not None and _named(known) != _named(cls):
            raise TypeError(f"problem code {cls.code!r} is declared twice: {known}, {cls}")
        PROBLEMS[cls.code] = cls

    def __init__(
        self, detail: str | None = None, *, headers: dict[str, str] | None = None, **facts: Any
    ) -> None:
        self.detail = detail or page_of(type(self))
        super().__init__(self.detail)
        self.headers = headers or {}
        self.facts = facts
        self.keeps = False

    @classmethod
    def is_declared(cls) -> bool:
        """Whether the class declares its code, and does not only add members to a problem."""
        return "code" in vars(cls)

    def keeping(self) -> "Problem":
        """A refusal whose effects stay: a thief is refused, and the stolen session ends."""
        self.keeps = True
        return self


def page_of(kind: type[Problem]) -> str:
    """What `/problems/{code}` says; also the detail of a refusal that has no detail of its own."""
    return " ".join((kind.__doc__ or kind.title).split())


def _named(kind: type[Problem]) -> tuple[str, str]:
    """Where a class stands; one that is loaded a second time stands in the same place."""
    return kind.__module__, kind.__qualname__
