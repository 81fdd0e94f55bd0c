"""The registry of Opportunity's jobs."""

from thenga.kernel.declare.job import Jobs

jobs = Jobs("opportunity")
