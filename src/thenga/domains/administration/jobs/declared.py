"""The registry of Administration's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("administration")
reseal_columns = reseals(jobs)
