"""Schemathesis over a running server: what the document says is what comes back."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.config import (
    ChecksConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.core.failures import AcceptedNegativeData, FailureGroup
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.transport.serialization import Binary

from tests.suites.corpus import ORGANIZATION, TRUE_WAY, WAYS, Corpus, Way, described, drawn, name_of

# A well-formed request may still be refused for what is stored, spent, limited or not one's own.
# That a bank account needs the version that was read (428) no schema can say either.
_REFUSED_FOR_OTHER_REASONS = [
    *("2xx", "303", "304"),
    *("401", "402", "403", "404", "409", "412", "428", "429"),
]


@dataclass(frozen=True)
class Rightful:
    """A call that its caller may make now."""

    parameters: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass
class Known:
    """What exists for the caller, so that cases reach beyond the gate."""

    headers: dict[str, str]
    organization_id: str
    rightful: Mapping[str, list[Rightful]]
    spare_tokens: Iterator[str]  # for the operation that ends the session that calls
    staff: dict[str, str]  # who calls what only staff may
    staffs: frozenset[str]  # the operations of staff
    strangers: list[str]  # people to whom staff may do what they like

    def parameters(self, operation: str) -> dict[str, str]:
        chosen = dict(random.choice(self.rightful[operation]).parameters)
        if operation in self.staffs:
            chosen["userId"] = random.choice(self.strangers)
        return chosen | {"organizationId": self.organization_id}

    def headers_for(self, operation: str, one: Rightful | None = None) -> dict[str, str]:
        if operation == "sign_out":  # all sessions of whoever calls, if chance draws that
            return {"Authorization": f"Bearer {next(self.spare_tokens)}"}
        usual = self.staff if operation in self.staffs else self.headers
        return usual | (one.headers if one is not None else {})


@dataclass
class Fuzzed:
    """What was sent, and what was wrong."""

    operations: int = 0
    replayed: int = 0  # operations whose cases came from the corpus
    examples: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    unreached: set[str] = field(default_factory=set)  # operations that were always turned away


def fuzz(
    origin: str,
    known: Known,
    *,
    examples: int,
    only: Callable[[str], bool] = lambda _: True,
    corpus: Corpus | None = None,
) -> Fuzzed:
    """`examples` of every operation: half of them valid, half on what exists.

    They come from the corpus, if it has some for the operation as it is described now.
    """
    # The document is made when it is first asked for, on a machine that may be busy.
    address = f"{origin}/openapi.full.json"
    schema = schemathesis.openapi.from_url(address, config=config(), timeout=60)
    fuzzed = Fuzzed()
    for operation in described(schema, only):
        name = name_of(operation)
        fuzzed.operations += 1
        fuzzed.unreached.add(name)
        stored = corpus.cases(operation) if corpus is not None else None
        fuzzed.replayed += stored is not None
        for way in WAYS:
            cases = drawn(operation, way, examples // 4) if stored is None else stored[way]
            _send_all(fuzzed, cases, way, known, origin)
    return fuzzed


def config() -> SchemathesisConfig:
    accepted = PositiveDataAcceptanceConfig(expected_statuses=_REFUSED_FOR_OTHER_REASONS)
    checks = ChecksConfig(positive_data_acceptance=accepted)
    return SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(checks=checks)))


def _send_all(fuzzed: Fuzzed, cases: list[Any], way: Way, known: Known, origin: str) -> None:
    for number, case in enumerate(cases):
        if [] in (case.query or {}).values():
            continue  # it leaves no trace in an address, so this is not the request it was drawn as
        name = name_of(case.operation)
        rightful = [None, *known.rightful[name]] if way == TRUE_WAY else [None]
        one = rightful[number % len(rightful)]
        if way.existing:
            chosen = known.parameters(name) if one is None else one.parameters
            names = [p.name for p in case.operation.path_parameters]
            case.path_parameters.update({n: v for n, v in chosen.items() if n in names})
            case.headers[ORGANIZATION] = known.organization_id
            if _OWNER in {one.name for one in case.operation.query}:
                case.query = {**(case.query or {}), _OWNER: known.organization_id}
            # Chance draws no check digit and no secret: now and then the body is a true one.
            if one is not None and one.body is not None:
                case.body = Binary(one.body) if isinstance(one.body, bytes) else one.body
        _send(fuzzed, case, known.headers_for(name, one), origin)


def _send(fuzzed: Fuzzed, case: Any, headers: dict[str, str], origin: str) -> None:
    fuzzed.examples += 1
    response = case.call(base_url=origin, headers=headers, timeout=120)
    fuzzed.statuses[response.status_code] += 1
    if response.status_code < 300 or response.status_code in (303, 409, 412, 428):
        fuzzed.unreached.discard(name_of(case.operation))
    sent = {"base_url": origin, "headers": headers, "timeout": 120}
    try:
        case.validate_response(response, headers=headers, transport_kwargs=sent)
    except FailureGroup as group:
        for failure in group.exceptions:
            if not (_refused_by_a_rule(failure, response) or _takes_a_file(failure, case)):
                key = f"{case.operation.label}: {type(failure).__name__}"
                fuzzed.failures.setdefault(key, str(group))


# What no schema can say of a well-formed request: that a cursor was given by us.
_NOT_SAID = ("invalid-cursor",)
_OWNER = "organizationId"  # in the query of some lists
_BY_SCHEMA = ("validation-failed", "unsupported-media-type")


def _refused_by_a_rule(failure: Exception, response: Any) -> bool:
    """A well-formed request may break a rule of the business; the schema cannot say that."""
    if not isinstance(failure, RejectedPositiveData):
        return False
    code = response.json()["code"]
    by_rule = response.status_code in (415, 422) and code not in _BY_SCHEMA
    return by_rule or code in _NOT_SAID


def _takes_a_file(failure: Exception, case: Any) -> bool:
    """Any bytes are a file of some type, so none break the schema."""
    return isinstance(failure, AcceptedNegativeData) and isinstance(case.body, Binary)
