"""The registry of Bid's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("bid")
reseal_columns = reseals(jobs)
