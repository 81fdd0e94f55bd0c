"""The end of a contract: checklist, final account and lessons (CON-41 to 43)."""

from thenga.domains.contract.services.closeout.checklist import Checked, Item
from thenga.domains.contract.services.closeout.closing import (
    CloseoutMove,
    CloseoutOpen,
    GivenCloseout,
    get_closeout,
    manage_closeout,
)
from thenga.domains.contract.services.closeout.lessons import (
    capture_lesson,
    change_lesson,
    list_lessons,
)

__all__ = [
    "Checked",
    "CloseoutMove",
    "CloseoutOpen",
    "GivenCloseout",
    "Item",
    "capture_lesson",
    "change_lesson",
    "get_closeout",
    "list_lessons",
    "manage_closeout",
]
