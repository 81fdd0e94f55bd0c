"""What callers send to invoices, and the permission that each move needs."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.contract.api.amounts import PositiveMoney
from thenga.domains.contract.api.proofs import ContractReference, DocumentProof
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services.invoicing import InvoiceMove, LineGiven
from thenga.domains.contract.tables import InvoiceKind, ReturnReason
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, decimal, lines, text

Verb = Literal[
    "submit",
    "discard",
    "receive",
    "resubmit",
    "approve",
    "dispute",
    "resolve",
    "credit",
    "replace",
    "write_off",
]
Reason = Literal[
    "missing_papers",
    "wrong_address",
    "wrong_amount",
    "wrong_vat",
    "wrong_party",
    "work_not_accepted",
    "other",
]
GRAVE = ("credit", "replace", "write_off")
SUBMITTING = ("submit", "approve")


class ContractInvoiceLineBody(Body):
    """One line of an invoice. Amounts include VAT."""

    milestone_id: Annotated[
        UUID | None, Field(description="Milestone claimed. Required on progress invoices.")
    ] = None
    description: Annotated[str, lines(1, 1000), Field(description="Description of the supply.")]
    quantity: Annotated[
        Annotated[Decimal, decimal(9, 3)], Field(description="Quantity or volume.")
    ] = Decimal(1)
    unit: Annotated[
        Annotated[str, text(1, 40)] | None, Field(description="Unit of the quantity.")
    ] = None
    amount: Annotated[PositiveMoney, Field(description="Amount of the line, VAT included.")]

    def to_line(self) -> LineGiven:
        return LineGiven(self.description, self.amount, self.milestone_id, self.quantity, self.unit)


Lines = Annotated[
    list[ContractInvoiceLineBody],
    Field(min_length=1, max_length=200, description="Lines, in order."),
]
ExternalNumber = Annotated[
    Annotated[str, text(1, 60)] | None,
    Field(description="Number of an invoice issued elsewhere, with its `documentRef`."),
]
DocumentRef = Annotated[
    ContractReference | None, Field(description="Document of an invoice issued elsewhere.")
]
SupplyDate = Annotated[
    Day | None, Field(description="Date of supply, for the VAT rate. Defaults to today.")
]
InvoiceNote = Annotated[
    Annotated[str, lines(1, 1000)] | None, Field(description="Text printed on the invoice.")
]


class CreateContractInvoice(Body):
    """An invoice to the buyer."""

    kind: Annotated[InvoiceKind, Field(description="Kind of invoice.")] = InvoiceKind.PROGRESS
    lines: Lines
    external_number: ExternalNumber = None
    document_ref: DocumentRef = None
    supply_date: SupplyDate = None
    note: InvoiceNote = None
    submit: Annotated[bool, Field(description="Whether to submit it at once.")] = False


class ReturnContractInvoice(Body):
    """Return of an invoice by the buyer."""

    verb: Annotated[Literal["return"], Field(description="Move to make.")]
    on: Annotated[Day | None, Field(description="Date of return. Defaults to today.")] = None
    reason_code: Annotated[
        ReturnReason,
        Field(
            description="Reason of the buyer. An invoice returned for `missing_papers` or "
            "`wrong_address` can be resubmitted; otherwise replace it."
        ),
    ]
    reason: Annotated[
        Annotated[str, lines(1, 500)] | None, Field(description="Reason in words.")
    ] = None

    def right(self) -> None:
        """A return needs no permission beside the route's."""

    def to_move(self) -> InvoiceMove:
        return InvoiceMove(
            verb=self.verb, on=self.on, reason_code=self.reason_code.value, reason=self.reason
        )


class MoveContractInvoice(Body):
    """A move of an invoice."""

    verb: Annotated[Verb, Field(description="Move to make.")]
    on: Annotated[
        Day | None,
        Field(description="Date of receipt. Defaults to today."),
    ] = None
    reason_code: Annotated[
        Reason | None, Field(description="Reason code. Required to dispute.")
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 500)] | None,
        Field(description="Reason in words. Required to credit, replace, write off or reduce."),
    ] = None
    amount: Annotated[
        PositiveMoney | None,
        Field(
            description="Amount approved, disputed, credited or written off. "
            "Defaults to the payable (`approve`), disputed (`resolve`) or outstanding amount. "
            "`credit` and `write_off` leave out payments that are not confirmed."
        ),
    ] = None
    outcome: Annotated[
        Literal["upheld", "reduced"],
        Field(description="Outcome of a dispute: the buyer owes the amount, or it is credited."),
    ] = "upheld"
    confirmation: Annotated[
        DocumentProof | None,
        Field(description="Evidence of the buyer's approval. Required to approve."),
    ] = None

    def right(self) -> Permission | None:
        """The permission that the move needs beside the route's."""
        if self.verb in GRAVE or (self.verb == "resolve" and self.outcome == "reduced"):
            return Permission.INVOICE_CREDIT
        return Permission.INVOICE_SUBMIT if self.verb in SUBMITTING else None

    def to_move(self) -> InvoiceMove:
        if self.right() is Permission.INVOICE_CREDIT and self.reason is None:
            raise missing("/move/reason", "Give a reason.")
        return InvoiceMove(
            verb=self.verb,
            on=self.on,
            reason_code=self.reason_code,
            reason=self.reason,
            amount=self.amount,
            upheld=self.outcome == "upheld",
            proof=None if self.confirmation is None else self.confirmation.to_proof(),
        )


AnyInvoiceMove = Annotated[MoveContractInvoice | ReturnContractInvoice, Field(discriminator="verb")]


class ChangeContractInvoice(Body):
    """Fields of a draft to update, and at most one move. Omitted fields stay unchanged."""

    lines: Annotated[
        list[ContractInvoiceLineBody],
        Field(min_length=1, max_length=200, description="Replaces all lines."),
    ] = []
    external_number: ExternalNumber = None
    document_ref: DocumentRef = None
    supply_date: SupplyDate = None
    note: InvoiceNote = None
    move: Annotated[AnyInvoiceMove | None, Field(description="Move to make with the change.")] = (
        None
    )
