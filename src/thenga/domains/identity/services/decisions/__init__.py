"""The decision: one statement for the facts, a table of stages, Cedar, a record of every no."""

from thenga.domains.identity.services.decisions._asking import (
    check,
    check_many,
    enter,
    facts_of,
    judge,
    question_of,
)
from thenga.domains.identity.services.decisions._explaining import Explained, explain
from thenga.domains.identity.services.decisions._facts import Facts, Question
from thenga.domains.identity.services.decisions._outcome import Outcome
from thenga.domains.identity.services.decisions._purging import purge
from thenga.domains.identity.services.decisions._reading import get_record, list_records
from thenga.domains.identity.services.decisions._stages import decide
from thenga.domains.identity.services.decisions.enforcing import enforce_policies
from thenga.domains.identity.services.decisions.given import given_rows

__all__ = [
    "Explained",
    "Facts",
    "Outcome",
    "Question",
    "check",
    "check_many",
    "decide",
    "enforce_policies",
    "enter",
    "explain",
    "facts_of",
    "get_record",
    "given_rows",
    "judge",
    "list_records",
    "purge",
    "question_of",
]
