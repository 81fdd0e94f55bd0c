"""Accounts: people's names, factors and the notices they get about their own account."""

from thenga.domains.identity.services.accounts.accounts import (
    STRONG_FACTORS,
    add_user,
    is_member,
    save_user,
    take_name,
)
from thenga.domains.identity.services.accounts.member_cards import (
    Standing,
    account_standing,
    may_belong,
    opened_for,
    show,
)
from thenga.domains.identity.services.accounts.names import (
    FoundAccount,
    account_key,
    find_account,
    find_name,
    limit_key,
)
from thenga.domains.identity.services.accounts.notices import (
    ACCOUNT_LOCKED,
    ADDRESS_CHANGE_ASKED,
    NEW_DEVICE,
    RECOVERY_CODE_USED,
    RECOVERY_CODES_LOW,
    codes_left,
    compose_message,
    notify,
    tell_person,
)

__all__ = [
    "ACCOUNT_LOCKED",
    "ADDRESS_CHANGE_ASKED",
    "NEW_DEVICE",
    "RECOVERY_CODES_LOW",
    "RECOVERY_CODE_USED",
    "STRONG_FACTORS",
    "FoundAccount",
    "Standing",
    "account_key",
    "account_standing",
    "add_user",
    "codes_left",
    "compose_message",
    "find_account",
    "find_name",
    "is_member",
    "limit_key",
    "may_belong",
    "notify",
    "opened_for",
    "save_user",
    "show",
    "take_name",
    "tell_person",
]
