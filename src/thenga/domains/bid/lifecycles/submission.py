"""Moves of forms, pricing workbooks, approvals and packs."""

from thenga.domains.bid.tables import ApprovalStatus, FormStatus, PackStatus, WorkbookStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class FormLifecycle(Lifecycle, initial=FormStatus.NOT_STARTED):
    """A form; signed by one person and verified by another (BID-21)."""

    begin = Move(FormStatus.NOT_STARTED, to=FormStatus.IN_PROGRESS, by=By.SYSTEM)
    complete = Move(FormStatus.IN_PROGRESS, to=FormStatus.COMPLETED)
    sign = Move(FormStatus.COMPLETED, to=FormStatus.SIGNED)
    verify = Move(FormStatus.SIGNED, to=FormStatus.VERIFIED)
    not_applicable = Move(
        *(FormStatus.NOT_STARTED, FormStatus.IN_PROGRESS, FormStatus.COMPLETED),
        to=FormStatus.NOT_APPLICABLE,
    )
    outdate = Move(
        *(FormStatus.COMPLETED, FormStatus.SIGNED, FormStatus.VERIFIED),
        to=FormStatus.OUTDATED,
        by=By.SYSTEM,
    )
    reopen = Move(
        *(FormStatus.COMPLETED, FormStatus.SIGNED, FormStatus.VERIFIED),
        *(FormStatus.NOT_APPLICABLE, FormStatus.OUTDATED),
        to=FormStatus.IN_PROGRESS,
    )


class WorkbookLifecycle(Lifecycle, initial=WorkbookStatus.DRAFT):
    """A price; its approval holds for exactly one content (BID-33)."""

    submit = Move(WorkbookStatus.DRAFT, to=WorkbookStatus.PENDING_APPROVAL, by=By.SYSTEM)
    approve = Move(WorkbookStatus.PENDING_APPROVAL, to=WorkbookStatus.APPROVED, by=By.SYSTEM)
    lock = Move(WorkbookStatus.APPROVED, to=WorkbookStatus.LOCKED, by=By.SYSTEM)
    return_ = Move(
        *(WorkbookStatus.PENDING_APPROVAL, WorkbookStatus.APPROVED),
        to=WorkbookStatus.DRAFT,
        by=By.SYSTEM,
    )
    unlock = Move(WorkbookStatus.LOCKED, to=WorkbookStatus.APPROVED, by=By.SYSTEM)
    reset = Move(WorkbookStatus.LOCKED, to=WorkbookStatus.DRAFT, by=By.SYSTEM)


class ApprovalLifecycle(Lifecycle, initial=ApprovalStatus.REQUESTED):
    """An approval; a voided one is never revived (BID-39)."""

    approve = Move(ApprovalStatus.REQUESTED, to=ApprovalStatus.APPROVED, called="decide")
    reject = Move(ApprovalStatus.REQUESTED, to=ApprovalStatus.REJECTED, called="decide")
    request_changes = Move(
        ApprovalStatus.REQUESTED, to=ApprovalStatus.CHANGES_REQUESTED, called="decide"
    )
    cancel = Move(ApprovalStatus.REQUESTED, to=ApprovalStatus.CANCELLED, called="decide")
    expire = Move(ApprovalStatus.REQUESTED, to=ApprovalStatus.EXPIRED, by=By.SYSTEM)
    void = Move(
        ApprovalStatus.REQUESTED, ApprovalStatus.APPROVED, to=ApprovalStatus.VOIDED, by=By.SYSTEM
    )


class PackLifecycle(Lifecycle, initial=PackStatus.ASSEMBLING):
    """A submission pack; sealed bytes stay readable after it is unsealed (BID-47)."""

    build = Move(PackStatus.ASSEMBLING, to=PackStatus.BUILT, by=By.SYSTEM)
    fail = Move(PackStatus.ASSEMBLING, to=PackStatus.FAILED, by=By.SYSTEM)
    rebuild = Move(PackStatus.BUILT, to=PackStatus.ASSEMBLING, by=By.SYSTEM)
    seal = Move(PackStatus.BUILT, to=PackStatus.SEALED)
    unseal = Move(PackStatus.SEALED, to=PackStatus.UNSEALED)
    submit = Move(PackStatus.SEALED, to=PackStatus.SUBMITTED)
    supersede = Move(
        *(PackStatus.UNSEALED, PackStatus.BUILT, PackStatus.FAILED),
        to=PackStatus.SUPERSEDED,
        by=By.SYSTEM,
    )
