"""Supplier's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("supplier")
reseal_columns = reseals(jobs)
