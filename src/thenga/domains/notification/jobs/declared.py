"""The registry of Notification's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("notification")
reseal_columns = reseals(jobs)
