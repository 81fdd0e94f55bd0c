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
from thenga.domains.identity.services.decisions.given import given_rows
from thenga.domains.identity.services.decisions.policies import BASE, label_of

__all__ = [
    "BASE",
    "Explained",
    "Facts",
    "Outcome",
    "Question",
    "check",
    "check_many",
    "decide",
    "enter",
    "explain",
    "facts_of",
    "get_record",
    "given_rows",
    "judge",
    "label_of",
    "list_records",
    "purge",
    "question_of",
]
