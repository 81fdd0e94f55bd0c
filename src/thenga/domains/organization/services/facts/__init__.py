"""Facts: what is said of a company, by whom, what counts of it, and how proven and old it is."""

from thenga.domains.organization.services.facts._checking import (
    Check,
    SelfVerification,
    lapse,
    request_check,
    verify,
)
from thenga.domains.organization.services.facts._choosing import Said, choose
from thenga.domains.organization.services.facts._deciding import confirm, mark_stale, resolve
from thenga.domains.organization.services.facts._holding import HELD, activate
from thenga.domains.organization.services.facts._importing import state_imported
from thenga.domains.organization.services.facts._ledger import (
    Picture,
    Source,
    Values,
    author_of,
    digest_of,
    load,
    load_one,
    origin_of,
    values_for,
)
from thenga.domains.organization.services.facts._overtaking import (
    PPM,
    decided,
    end,
    target_of,
)
from thenga.domains.organization.services.facts._reading import (
    Cited,
    Filters,
    cited,
    history_of,
    list_facts,
    pictures_of,
    profile_of,
    source_of,
)
from thenga.domains.organization.services.facts._settling import (
    card_facts,
    hold,
    rules_of,
    tell,
)
from thenga.domains.organization.services.facts._stating import (
    Given,
    change_profile,
    found_profile,
    state,
    withdraw,
)

__all__ = [
    "HELD",
    "PPM",
    "Check",
    "Cited",
    "Filters",
    "Given",
    "Picture",
    "Said",
    "SelfVerification",
    "Source",
    "Values",
    "activate",
    "author_of",
    "card_facts",
    "change_profile",
    "choose",
    "cited",
    "confirm",
    "decided",
    "digest_of",
    "end",
    "found_profile",
    "history_of",
    "hold",
    "lapse",
    "list_facts",
    "load",
    "load_one",
    "mark_stale",
    "origin_of",
    "pictures_of",
    "profile_of",
    "request_check",
    "resolve",
    "rules_of",
    "source_of",
    "state",
    "state_imported",
    "target_of",
    "tell",
    "values_for",
    "verify",
    "withdraw",
]
