"""What holds of packages: percentages, and how much of a contract goes to others (CON-35)."""

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from thenga.domains.contract.values.packages import PackageMilestone
from thenga.domains.contract.values.refusals import invalid
from thenga.kernel.errors import Problem, extensions

_WHOLE = Decimal(100)
_PLACES = Decimal("0.01")


class SubcontractLimit(Problem):
    """The contract terms limit the share that can be subcontracted.

    `limit` is the maximum in per cent, `share` the total with this package. Lower the value of
    this package, or cancel another one.
    """

    code, status, title = "contract-subcontract-limit", 422, "The subcontract limit is exceeded"
    members = extensions(
        limit=(str, "Maximum share in per cent."),
        share=(str, "Share in per cent with this package."),
    )


def check_milestones(milestones: Sequence[PackageMilestone]) -> None:
    """The percentages of a package sum to 100, and each key is used once."""
    twice = [key for key, n in Counter(one.key for one in milestones).items() if n > 1]
    total = sum((one.percent for one in milestones), Decimal(0))
    if twice:
        raise invalid("/packageMilestones", f"Use each key once: {', '.join(twice)}.")
    if total != _WHOLE:
        raise invalid(
            "/packageMilestones", f"The percentages add up to {total}. They must add up to 100."
        )


def share_of(packages_minor: int, contract_minor: int) -> Decimal:
    """The share of packages in the contract value, in per cent."""
    if not contract_minor:
        return Decimal(0)
    share = _WHOLE * packages_minor / contract_minor
    return share.quantize(_PLACES, rounding=ROUND_HALF_UP)


def check_share(packages_minor: int, contract_minor: int, limit: Decimal | None) -> None:
    """Compared exactly, so that rounding lets nothing pass."""
    if limit is not None and packages_minor * _WHOLE > limit * contract_minor:
        share = share_of(packages_minor, contract_minor)
        raise SubcontractLimit(limit=f"{limit:f}", share=f"{share:f}")
