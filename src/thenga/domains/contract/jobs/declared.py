"""The registry of Contract's jobs."""

from thenga.kernel.declare.job import Jobs

jobs = Jobs("contract")
