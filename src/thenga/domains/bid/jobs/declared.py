"""The registry of Bid's jobs."""

from thenga.kernel.declare.job import Jobs

jobs = Jobs("bid")
