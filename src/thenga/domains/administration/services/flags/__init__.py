"""Flags: rollouts, and what a flag evaluates to."""

from thenga.domains.administration.services.flags.evaluation import (
    Caller,
    Flag,
    Rollout,
    Targets,
    bucket,
    evaluate,
)

__all__ = ["Caller", "Flag", "Rollout", "Targets", "bucket", "evaluate"]
