"""Flags: rollouts, and what a flag evaluates to."""

from thenga.domains.administration.services.flags.answers import answer
from thenga.domains.administration.services.flags.cards import (
    is_sandbox,
    keep_mode,
    keep_plan,
)
from thenga.domains.administration.services.flags.evaluation import (
    Caller,
    Flag,
    Rollout,
    Targets,
    bucket,
    evaluate,
)
from thenga.domains.administration.services.flags.flags import (
    RolloutInvalid,
    RolloutRequest,
    create_flag,
    last_rollouts,
    list_flags,
    roll_out,
    sync_declared,
)

__all__ = [
    "Caller",
    "Flag",
    "Rollout",
    "RolloutInvalid",
    "RolloutRequest",
    "Targets",
    "answer",
    "bucket",
    "create_flag",
    "evaluate",
    "is_sandbox",
    "keep_mode",
    "keep_plan",
    "last_rollouts",
    "list_flags",
    "roll_out",
    "sync_declared",
]
