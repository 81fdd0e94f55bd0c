"""What the room of prices refuses."""

from thenga.kernel.errors import Problem, extensions

_KEYS = (list[str], "Keys of the items.")


class RatePrecision(Problem):
    """A rate has more decimals than `rateDecimals`. The buyer checks the printed rate times the
    quantity, so round the rate or raise `rateDecimals`."""

    code, status, title = "bid-rate-precision", 422, "Rate has too many decimals"
    members = extensions(keys=_KEYS, allowedDecimals=(int, "Maximum decimals of a rate."))


class GoalsExceedAllocation(Problem):
    """A claim exceeds the points that the tender allocates to the goal. Lower it."""

    code, status, title = "bid-goals-exceed-allocation", 422, "Too many points claimed"
    members = extensions(keys=(list[str], "Keys of the goals."))
