"""The registry of Compliance's jobs."""

from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.resealing import reseals

jobs = Jobs("compliance")
reseal_columns = reseals(jobs)
