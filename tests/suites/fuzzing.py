"""Schemathesis over a running server: what the document says is what comes back."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import (
    ChecksConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.openapi.checks import RejectedPositiveData

# A well-formed request may still be refused for what is stored, spent, limited or not one's own.
# That a bank account needs the version that was read (428) no schema can say either.
_REFUSED_FOR_OTHER_REASONS = ["2xx", "304", "401", "402", "403", "404", "409", "412", "428", "429"]


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

    def headers_for(self, operation: str) -> dict[str, str]:
        if operation == "sign_out":
            return {"Authorization": f"Bearer {next(self.spare_tokens)}"}
        return dict(self.staff if operation in self.staffs else self.headers)


@dataclass
class Fuzzed:
    """What was sent, and what was wrong."""

    operations: int = 0
    examples: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    unreached: set[str] = field(default_factory=set)  # operations that were always turned away


def fuzz(
    origin: str, known: Known, *, examples: int, only: Callable[[str], bool] = lambda _: True
) -> Fuzzed:
    """`examples` of every operation: half of them valid, half on what exists."""
    schema = schemathesis.openapi.from_url(f"{origin}/openapi.json", config=_config())
    fuzzed = Fuzzed()
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        if not only(operation.definition.raw["operationId"]):
            continue
        fuzzed.operations += 1
        fuzzed.unreached.add(operation.definition.raw["operationId"])
        ways = itertools.product((GenerationMode.POSITIVE, GenerationMode.NEGATIVE), (True, False))
        for mode, existing in ways:
            _run(fuzzed, operation, mode, known, existing, max(1, examples // 4), origin)
    return fuzzed


def _config() -> SchemathesisConfig:
    accepted = PositiveDataAcceptanceConfig(expected_statuses=_REFUSED_FOR_OTHER_REASONS)
    checks = ChecksConfig(positive_data_acceptance=accepted)
    return SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(checks=checks)))


def _run(
    fuzzed: Fuzzed,
    operation: Any,
    mode: GenerationMode,
    known: Known,
    existing: bool,
    examples: int,
    origin: str,
) -> None:
    names = [p.name for p in operation.path_parameters]
    name = operation.definition.raw["operationId"]
    fixed = {n: v for n, v in known.parameters(name).items() if n in names}
    given_headers = {"X-Organization-Id": known.organization_id} if existing else None
    strategy = operation.as_strategy(
        generation_mode=mode,
        path_parameters=fixed if existing and fixed else None,
        headers=given_headers,
    )
    rightful = itertools.cycle([None, *known.rightful[name]])

    @seed(len(operation.label) + mode.is_positive * 100 + existing * 1000)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def send(case: Any) -> None:
        headers = known.headers_for(name)
        if existing:
            one = next(rightful) if mode.is_positive else None
            chosen = known.parameters(name) if one is None else one.parameters
            case.path_parameters.update({n: v for n, v in chosen.items() if n in names})
            # Chance draws no check digit and no secret: now and then the body is a true one.
            if one is not None:
                headers |= one.headers
                case.body = case.body if one.body is None else one.body
        _send(fuzzed, case, headers, origin)

    with suppress(Unsatisfiable):  # nothing about this operation can be made wrong in this way
        send()


def _send(fuzzed: Fuzzed, case: Any, headers: dict[str, str], origin: str) -> None:
    fuzzed.examples += 1
    response = case.call(base_url=origin, headers=headers, timeout=20)
    fuzzed.statuses[response.status_code] += 1
    if response.status_code < 300 or response.status_code in (409, 412, 428):
        fuzzed.unreached.discard(case.operation.definition.raw["operationId"])
    sent = {"base_url": origin, "headers": headers, "timeout": 20}
    try:
        case.validate_response(response, headers=headers, transport_kwargs=sent)
    except FailureGroup as group:
        for failure in group.exceptions:
            if not _refused_by_a_rule(failure, response):
                key = f"{case.operation.label}: {type(failure).__name__}"
                fuzzed.failures.setdefault(key, str(group))


# What no schema can say of a well-formed request: that a cursor was given by us.
_NOT_SAID = ("invalid-cursor",)


def _refused_by_a_rule(failure: Exception, response: Any) -> bool:
    """A well-formed request may break a rule of the business; the schema cannot say that."""
    if not isinstance(failure, RejectedPositiveData):
        return False
    code = response.json()["code"]
    by_rule = response.status_code == 422 and code != "validation-failed"
    return by_rule or code in _NOT_SAID
