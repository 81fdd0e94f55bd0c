"""The registry of Contract's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("contract")
reseal_columns = reseals(jobs)
