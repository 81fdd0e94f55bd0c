"""The registry of Opportunity's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("opportunity")
reseal_columns = reseals(jobs)
