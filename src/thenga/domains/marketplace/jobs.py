"""Marketplace's jobs that no service function declares."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("marketplace")
reseal_columns = reseals(jobs)
