"""What must hold of a plan, and how it divides the contract value (CON-7, CON-8)."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from graphlib import CycleError, TopologicalSorter

from thenga.domains.contract.tables import Milestone
from thenga.domains.contract.values.plans import Plan, PlannedMilestone
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.errors import Problem, extensions
from thenga.kernel.values.money import Money

WHOLE = Decimal("100.0000")
_UNITS = 1_000_000  # ten-thousandths of a per cent


class PlanPercent(Problem):
    """The percentages of a baseline must add up to exactly 100. `sum` is the current total."""

    code, status, title = "contract-plan-percent", 422, "The percentages do not add up to 100"
    members = extensions(sum=(str, "Sum of the percentages."))


class PlanCyclic(Problem):
    """Some milestones depend on each other. `cycle` lists them; remove one of the dependencies."""

    code, status, title = "contract-plan-cyclic", 422, "The plan has a cycle"
    members = extensions(cycle=(list[str], "Keys of the milestones in the cycle."))


def check_plan(plan: Plan) -> None:
    """What also a draft must keep: keys are used once, and nothing waits for itself."""
    _refuse_twice([one.key for one in plan], "/milestones")
    for place, one in enumerate(plan):
        keys = [part.key for part in one.deliverables]
        _refuse_twice(keys, f"/milestones/{place}/deliverables")
    cycle = find_cycle(plan)
    if cycle:
        raise PlanCyclic(cycle=cycle)


def check_baseline(plan: Plan) -> None:
    """What a plan must keep before delivery is measured against it."""
    known = {one.key for one in plan}
    for place, one in enumerate(plan):
        for at, part in enumerate(one.depends_on):
            if part.key not in known:
                pointer = f"/milestones/{place}/dependsOn/{at}/key"
                raise invalid(pointer, f"{part.key} is not a milestone of this plan.", "unknown")
    total = sum((one.value_percent for one in plan), Decimal(0))
    if total != WHOLE:
        raise PlanPercent(sum=f"{total:.4f}")


def find_cycle(plan: Plan) -> list[str]:
    """The milestones that wait for each other, from the first one of the plan on; else none."""
    known = {one.key: place for place, one in enumerate(plan)}
    waits = {one.key: [part.key for part in one.depends_on if part.key in known] for one in plan}
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][:-1]
        first = cycle.index(min(cycle, key=known.__getitem__))
        turned = cycle[first:] + cycle[:first]
        return [*turned, turned[0]]
    return []


def divide(value: Money, percents: Sequence[Decimal]) -> list[Money]:
    """The amount of each milestone, by largest remainder; between equals the earlier gains."""
    return value.share(percents)


def percents_of(amounts: Sequence[int]) -> list[Decimal]:
    """The percentage of each amount, with four places, so that they sum to exactly 100."""
    if not sum(amounts):
        return [Decimal("0.0000") for _ in amounts]
    units = Money(_UNITS, "ZAR").share(list(amounts))
    return [Decimal(one.minor).scaleb(-4) for one in units]


def agreed_differences(plan: Plan, held: Sequence[Milestone]) -> list[str]:
    """The fields of a later plan that only a variation changes (CON-8)."""
    planned = {one.key: one for one in plan}
    found = [
        name for milestone in held for name in _differences(planned.get(milestone.key), milestone)
    ]
    known = {milestone.key for milestone in held}
    found += [f"{one.key}.valuePercent" for one in plan if one.key not in known and _counts(one)]
    return found


def _differences(planned: PlannedMilestone | None, milestone: Milestone) -> list[str]:
    if planned is None:
        return [milestone.key]
    found = []
    if planned.due_on != milestone.due_on:
        found.append(f"{milestone.key}.dueOn")
    if planned.value_percent != milestone.value_percent:
        found.append(f"{milestone.key}.valuePercent")
    return found


def _counts(planned: PlannedMilestone) -> bool:
    return planned.value_percent != 0


def _refuse_twice(keys: Sequence[str], pointer: str) -> None:
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise invalid(pointer, f"Use each key once: {', '.join(twice)}.", "twice")
