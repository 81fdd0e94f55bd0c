"""Submission: check what may be claimed, then number, book and print in one transaction.

The counters of the contract are locked first, so two submissions never claim the same money.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from uuid import UUID

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.money import InvoiceLifecycle
from thenga.domains.contract.services import ledger
from thenga.domains.contract.services.invoicing import drafts
from thenga.domains.contract.services.invoicing.arithmetic import Amounts, booking_of
from thenga.domains.contract.services.invoicing.drafts import LineGiven
from thenga.domains.contract.tables import (
    Invoice,
    InvoiceKind,
    Milestone,
    MilestoneStatus,
    Workspace,
    WorkspaceMoney,
)
from thenga.domains.contract.values.refusals import told
from thenga.domains.contract.values.terms import Terms
from thenga.domains.organization.public import Profiles, ProfileView, RecordView
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import (
    ERRORS,
    DependencyUnavailable,
    Duplicate,
    Problem,
    extensions,
)
from thenga.kernel.ports.binding import within
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_FACTS = {
    "legalName": "legal_name",
    "tradingName": "trading_name",
    "registrationNumber": "registration_number",
    "vatNumber": "vat_number",
}
render_document = job_stub(
    "contract.render_document", form=Form.OUTSIDE, key="{document_id}", retries=8
)


class OverValue(Problem):
    """The invoices exceed the current contract value, the agreed advance or releasable retention.

    `remaining` is the amount that can still be claimed.
    """

    code, status, title = "contract-over-value", 422, "The invoice exceeds what can be claimed"
    members = extensions(remaining=(Money, "Amount that can still be claimed, VAT included."))


class OverMilestone(Problem):
    """The invoices exceed the amount of the milestone, or the part accepted or reported so far.

    `remaining` is the amount that can be claimed now.
    """

    code, status, title = "contract-over-milestone", 422, "The invoice exceeds the milestone"
    members = extensions(
        milestoneId=(UUID, "ID of the milestone."),
        remaining=(Money, "Amount that can be claimed now, VAT included."),
    )


class InvoiceTaxDataMissing(Problem):
    """A tax invoice must show the name and address of both parties and your VAT number.

    Add what `errors` lists: your own facts in the organization's profile, the buyer's in the
    contract.
    """

    code, status, title = "contract-tax-data-missing", 422, "The invoice is incomplete"
    members = extensions(missing=(list[str], "JSON pointers to the missing fields."), errors=ERRORS)


@dataclass(frozen=True, slots=True)
class Seller:
    """Our own company as an invoice prints it, with the versions of what was read."""

    printed: dict[str, Any]
    refs: list[dict[str, Any]]
    is_sandbox: bool


async def seller_of(read: Reader) -> Seller:
    """Ask Organization who we are. Without an answer nothing is issued."""
    profiles = read.port(Profiles)
    mine = read.organization_id
    asked = profiles.describe(
        organization_id=mine,
        purpose="display",
        fact_keys=[*_FACTS],
        record_types=["address"],
    )
    try:
        profile = await within(profiles.port_timeout, profiles.port_name, asked)
        mode = await within(
            profiles.port_timeout, profiles.port_name, profiles.mode(organization_id=mine)
        )
    except DependencyUnavailable:
        raise
    except Problem:
        raise DependencyUnavailable() from None
    address = _registered_address(profile)
    facts = [fact for fact in profile.facts if fact.value is not None]
    printed: dict[str, Any] = {_FACTS[fact.key]: str(fact.value) for fact in facts}
    printed["address"] = None if address is None else address.summary
    cited = [fact.ref for fact in facts] + ([] if address is None else [address.ref])
    refs = [ref.model_dump(mode="json") for ref in cited]
    return Seller(printed, refs, is_sandbox=mode == "sandbox")


def _registered_address(profile: ProfileView) -> RecordView | None:
    """The registered office, else the primary address, else the first."""
    found = [record for record in profile.records if record.type == "address"]

    def rank(record: RecordView) -> tuple[bool, bool, str]:
        said = record.summary
        return not said.get("registeredOffice"), not said.get("primary"), record.ref.id

    return min(found, key=rank, default=None)


def buyer_of(workspace: Workspace) -> dict[str, Any]:
    """The buyer as an invoice prints it."""
    kept = workspace.counterparty
    return {
        "legal_name": kept.get("name"),
        "address": kept.get("address"),
        "vat_number": kept.get("vatNumber"),
    }


def check_tax_data(seller: Seller, buyer: dict[str, Any], treatment: str) -> None:
    """Refuse unless every field of a full tax invoice is known."""
    ours = seller.printed
    needed = {
        "/seller/legalName": ours.get("legal_name"),
        "/seller/address": ours.get("address"),
        "/seller/vatNumber": ours.get("vat_number") or treatment == "non_vendor",
        "/counterparty/name": buyer.get("legal_name"),
        "/counterparty/address": buyer.get("address"),
    }
    missing = [pointer for pointer, value in needed.items() if not value]
    if missing:
        errors = [
            {"pointer": pointer, "code": "missing", "detail": "A tax invoice must show this."}
            for pointer in missing
        ]
        raise InvoiceTaxDataMissing(missing=missing, errors=errors)


async def submit(work: Work, invoice: Invoice, workspace: Workspace, ours: Seller | None) -> bool:
    """Submit a locked draft. `ours` is null for an invoice that was made elsewhere."""
    if not InvoiceLifecycle.submit(invoice, at=work.now):
        return False
    money = await ledger.lock_money(work, workspace.id)
    invoice.supply_date = invoice.supply_date or local_day(work.now)
    kept = await drafts.lines_of(work, invoice.id)
    lines = [drafts.line_given(line, invoice.currency) for line in kept]
    milestones = await drafts.check_lines(work, workspace, invoice.kind, lines)
    amounts = await drafts.preview_amounts(work, workspace, money, invoice, lines)
    await _check_room(work, workspace, money, invoice.kind, amounts)
    await _claim_milestones(work, workspace, milestones, lines)
    _count(money, invoice.kind, amounts)
    await work.save(money)
    if amounts.retained and workspace.practical_completion_on is not None:
        workspace.next_check_at = work.now  # this retention can be released, too
        await work.save(workspace)
    await _issue(work, invoice, workspace, ours)
    if not invoice.payable_minor:  # all of it is retained or pays back the advance
        invoice.settled_from = invoice.status.value
        InvoiceLifecycle.settle(invoice, at=work.now)
    await work.save(invoice)
    await ledger.post(
        work,
        booking_of(invoice.kind, amounts),
        workspace_id=workspace.id,
        source_id=invoice.id,
        key=f"invoice:{invoice.id}",
    )
    if ours is not None:
        work.enqueue(render_document, document_id=invoice.id)
    _publish(work, invoice)
    return True


async def _check_room(
    work: Work, workspace: Workspace, money: WorkspaceMoney, kind: InvoiceKind, amounts: Amounts
) -> None:
    balances = ledger.Balances.of(money)
    claimed, remaining = amounts.payable, balances.advance_due - balances.advance_billed
    if kind is InvoiceKind.PROGRESS:
        claimed, remaining = amounts.work, balances.remaining
    elif kind is InvoiceKind.RETENTION_RELEASE:
        parts = ledger.parts_of(workspace, balances)
        remaining = ledger.releasable(parts, local_day(work.now), workspace.currency)
    if claimed > remaining:
        raise OverValue(f"Only {remaining} can still be claimed.", remaining=told(remaining))


async def _claim_milestones(
    work: Work,
    workspace: Workspace,
    milestones: dict[UUID, Milestone],
    lines: Sequence[LineGiven],
) -> None:
    """Count the lines as billed of their milestones, in one order for everybody."""
    basis = Terms.of_row(workspace.terms).claim_basis
    for milestone_id in sorted(milestones):
        milestone = await work.lock(Milestone, milestone_id, beside=True)
        claims = [line.amount.minor for line in lines if line.milestone_id == milestone_id]
        remaining = claimable(milestone, basis)
        if sum(claims) > remaining.minor:
            raise OverMilestone(
                f"Only {remaining} of milestone {milestone.key} can be claimed now.",
                milestoneId=str(milestone_id),
                remaining=told(remaining),
            )
        milestone.billed_minor += sum(claims)
        await work.save(milestone)


def claimable(milestone: Milestone, basis: str) -> Money:
    """What can be claimed of a milestone now, after what was billed (CON-18)."""
    amount = Money(milestone.amount_minor, milestone.currency)
    if basis == "progress" and milestone.status is not MilestoneStatus.MET:
        part = Fraction(milestone.percent_complete) / 100
    else:
        part = Fraction(milestone.accepted_percent) / 100
    billed = Money(milestone.billed_minor, milestone.currency)
    return max(amount.times(part) - billed, Money(0, milestone.currency))


def _count(money: WorkspaceMoney, kind: InvoiceKind, amounts: Amounts) -> None:
    """Move the counters of the contract by one submitted invoice."""
    money.billed_minor += amounts.work.minor
    money.retained_minor += amounts.retained.minor
    money.recovered_minor += amounts.recovered.minor
    if kind is InvoiceKind.ADVANCE:
        money.advance_billed_minor += amounts.payable.minor
    elif kind is InvoiceKind.RETENTION_RELEASE:
        money.released_minor += amounts.payable.minor


async def _issue(work: Work, invoice: Invoice, workspace: Workspace, ours: Seller | None) -> None:
    """Give the number last, because others who want one wait for it (CON-20)."""
    invoice.submitted_on, invoice.issued_at = local_day(work.now), work.now
    invoice.issued_by = work.actor.id
    invoice.status_changed_at, invoice.status_changed_by = work.now, work.actor.id
    invoice.printed = printed_facts(invoice, workspace, ours)
    if ours is not None:
        invoice.seller_refs = ours.refs
        invoice.number = await number_of(work, "invoice", "INV", is_sandbox=ours.is_sandbox)
        return
    taken = await work.find(Invoice, number=invoice.external_number)
    if taken is not None:
        raise Duplicate(existing={"id": str(taken.id)}, field="externalNumber")
    invoice.number = invoice.external_number


def printed_facts(invoice: Invoice, workspace: Workspace, ours: Seller | None) -> dict[str, Any]:
    """What the document shows of both parties and the contract, whatever changes later."""
    return {
        "seller": None if ours is None else ours.printed,
        "specimen": ours is not None and ours.is_sandbox,
        "buyer": buyer_of(workspace),
        "contract_number": workspace.contract_number,
        "order_number": workspace.order_number,
        "payment_days": Terms.of_row(workspace.terms).payment_days,
        "kind": invoice.kind.value,
    }


async def number_of(work: Work, series: str, prefix: str, *, is_sandbox: bool) -> str:
    """The next number of a series; a sandbox says so in each of its numbers."""
    number = f"{prefix}-{await next_number(work, series):04d}"
    return f"SBX-{number}" if is_sandbox else number


def _publish(work: Work, invoice: Invoice) -> None:
    assert invoice.number and invoice.submitted_on  # noqa: S101  # set at submission
    work.publish(
        public.InvoiceRecorded(
            organization_id=invoice.organization_id,
            workspace_id=invoice.workspace_id,
            invoice_id=invoice.id,
            number=invoice.number,
            kind=invoice.kind.value,
            payable=Money(invoice.payable_minor, invoice.currency),
            submitted_on=invoice.submitted_on,
        )
    )
