"""What is sent to open and change contracts."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from pydantic.alias_generators import to_camel

from thenga.domains.contract.api.amounts import PositiveMoney
from thenga.domains.contract.api.proofs import ContractReference, DocumentProof
from thenga.domains.contract.services.workspaces import (
    ContractFields,
    WorkspaceMove,
)
from thenga.domains.contract.tables import BuyerKind, ContractCategory, Party
from thenga.domains.contract.values import terms as values
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, Percent, lines, matching, text, whole

Days = Annotated[int, whole(0, 3660)]
ContractNumber = Annotated[str, text(1, 80), Field(description="Number of the contract.")]
OrderNumber = Annotated[
    Annotated[str, text(1, 80)] | None, Field(description="Buyer's order number.")
]
Title = Annotated[str, text(1, 200), Field(description="Title of the contract.")]
DifferenceReason = Annotated[
    Annotated[str, lines(1, 1000)] | None,
    Field(description="Reason why the value differs from the award."),
]
NotifiedOn = Annotated[Day | None, Field(description="Date of the award letter.")]
DocumentRefs = Annotated[
    list[ContractReference], Field(max_length=50, description="Documents of the contract.")
]
CategoryField = Annotated[ContractCategory, Field(description="Category of the contract.")]
StartsOn = Annotated[Day, Field(description="First day of the contract.")]
EndsOn = Annotated[Day, Field(description="Last day of the contract.")]
ContractValue = Annotated[PositiveMoney, Field(description="Contract value, VAT included.")]


class CounterpartyBody(Body):
    """The buyer, as named in the contract."""

    name: Annotated[str, text(1, 200), Field(description="Name of the buyer.")]
    kind: Annotated[BuyerKind, Field(description="Kind of buyer. It decides which law applies.")]
    address: Annotated[
        Annotated[str, lines(1, 500)] | None, Field(description="Address for invoices.")
    ] = None
    vat_number: Annotated[
        Annotated[str, matching("^4[0-9]{9}$", 10)] | None, Field(description="VAT number.")
    ] = None
    email_domain: Annotated[
        Annotated[str, matching(r"^[a-z0-9][a-z0-9.-]{1,98}[a-z]$", 100)] | None,
        Field(description="Domain of the buyer's email addresses."),
    ] = None

    def to_row(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


class InterestTermsBody(Body):
    """Interest on late payment."""

    basis: Annotated[
        Literal["prescribed", "contract"], Field(description="Prescribed or contract rate.")
    ] = "prescribed"
    rate_percent: Annotated[Percent | None, Field(description="Contract rate in per cent.")] = None
    runs_from: Annotated[
        Literal["due", "demand"], Field(description="Start of interest: due date or demand.")
    ] = "due"


class AdvanceTermsBody(Body):
    """Advance payment."""

    percent: Annotated[Percent, Field(description="Share of the contract value.")]
    recovery_percent: Annotated[
        Percent, Field(description="Share of each invoice that recovers it.")
    ]


class RetentionTermsBody(Body):
    """Terms of retention."""

    percent: Annotated[Percent, Field(description="Share of each invoice to retain.")]
    cap_percent: Annotated[Percent, Field(description="Maximum share of the contract value.")]
    first_release_percent: Annotated[
        Percent, Field(description="Share released at practical completion.")
    ] = values.Retention().first_release_percent
    defects_days: Annotated[Days, Field(description="Days until the rest is released.")] = 0
    vat_timing: Annotated[
        Literal["when_due", "on_invoice"], Field(description="When VAT on retention is due.")
    ] = "when_due"


class PenaltyTermsBody(Body):
    """Penalty for late delivery."""

    percent_per_day: Annotated[Percent | None, Field(description="Share per day of delay.")] = None
    amount_per_day: Annotated[
        PositiveMoney | None, Field(description="Amount per day of delay.")
    ] = None
    cap_percent: Annotated[Percent | None, Field(description="Maximum share.")] = None


class SecurityTermsBody(Body):
    """Performance security."""

    percent: Annotated[Percent, Field(description="Share of the contract value.")]
    due_days: Annotated[Days, Field(description="Days after the award to provide it.")] = 21


class ContractTermsBody(Body):
    """Terms of the contract. They cannot change once it is active."""

    payment_days: Annotated[
        Annotated[int, whole(1, 365)] | None,
        Field(description="Payment period in days. Defaults to the legal period, 30."),
    ] = None
    interest: Annotated[InterestTermsBody | None, Field(description="Interest.")] = None
    vat_treatment: Annotated[
        Literal["standard", "zero_rated", "non_vendor"], Field(description="How VAT is charged.")
    ] = "standard"
    advance: Annotated[AdvanceTermsBody | None, Field(description="Advance.")] = None
    retention: Annotated[RetentionTermsBody | None, Field(description="Retention.")] = None
    penalty: Annotated[PenaltyTermsBody | None, Field(description="Penalty.")] = None
    security: Annotated[SecurityTermsBody | None, Field(description="Security.")] = None
    subcontract_limit_percent: Annotated[
        Percent | None, Field(description="Maximum share that can be subcontracted.")
    ] = None
    claim_basis: Annotated[
        Literal["on_met", "progress"], Field(description="When a milestone can be invoiced.")
    ] = "on_met"
    cession: Annotated[
        Literal["unknown", "allowed", "needs_consent", "forbidden"],
        Field(description="Whether claims can be ceded to a funder."),
    ] = "unknown"

    def to_terms(self, payment_days: int) -> values.Terms:
        given = {name: part for name, part in self.model_dump().items() if part is not None}
        return values.Terms.of_row({"payment_days": payment_days} | given)


class OpenContractWorkspace(Body):
    """A contract to open from an award."""

    award_event_id: Annotated[UUID, Field(description="`eventId` of the award.")]
    contract_number: ContractNumber
    order_number: OrderNumber = None
    title: Title
    category: CategoryField
    counterparty: Annotated[CounterpartyBody, Field(description="The buyer.")]
    contract_value: ContractValue
    value_difference_reason: DifferenceReason = None
    starts_on: StartsOn
    ends_on: EndsOn
    notified_on: NotifiedOn = None
    document_refs: DocumentRefs = []
    terms: Annotated[ContractTermsBody | None, Field(description="Terms.")] = None

    def to_fields(self, payment_days: int) -> ContractFields:
        return ContractFields(
            contract_number=self.contract_number,
            title=self.title,
            category=self.category.value,
            counterparty=self.counterparty.to_row(),
            value=self.contract_value,
            starts_on=self.starts_on,
            ends_on=self.ends_on,
            terms=None if self.terms is None else self.terms.to_terms(payment_days),
            order_number=self.order_number,
            value_difference_reason=self.value_difference_reason,
            notified_on=self.notified_on,
            document_refs=tuple(one.to_row() for one in self.document_refs),
        )


class MoveContractWorkspace(Body):
    """A move of the contract."""

    verb: Annotated[
        Literal[
            "sign",
            "activate",
            "challenge",
            "clear",
            "suspend",
            "resume",
            "cancel",
            "terminate",
        ],
        Field(description="Move to make."),
    ]
    reason: Annotated[
        Annotated[str, text(1, 500)] | None,
        Field(description="Reason. Required unless you challenge or clear."),
    ] = None
    reason_code: Annotated[
        Annotated[str, matching("^[a-z][a-z_]{1,39}$", 40)] | None,
        Field(description="Reason code. Required to suspend, cancel and terminate."),
    ] = None
    party: Annotated[Party, Field(description="Party that signs.")] = Party.SUPPLIER
    confirmation: Annotated[
        DocumentProof | None, Field(description="Evidence that the buyer signed.")
    ] = None
    note: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Subject of the challenge. Required to challenge."),
    ] = None
    effective_on: Annotated[Day | None, Field(description="Date of the termination.")] = None
    evidence_refs: Annotated[
        list[ContractReference], Field(max_length=50, description="Notice of termination.")
    ] = []
    override_reason: Annotated[
        Annotated[str, text(1, 500)] | None,
        Field(description="Reason to activate it although the company is not ready."),
    ] = None

    def to_move(self) -> WorkspaceMove:
        return WorkspaceMove(
            verb=self.verb,
            reason=self.reason,
            reason_code=self.reason_code,
            party=self.party,
            proof=None if self.confirmation is None else self.confirmation.to_proof(),
            note=self.note,
            effective_on=self.effective_on,
            evidence_refs=[one.to_reference() for one in self.evidence_refs],
            override_reason=self.override_reason,
        )


class ChangeContractWorkspace(Body):
    """Fields to update, and at most one move."""

    contract_number: ContractNumber = "unchanged"
    order_number: OrderNumber = None
    title: Title = "unchanged"
    category: CategoryField = ContractCategory.WORKS
    counterparty: Annotated[CounterpartyBody | None, Field(description="The buyer.")] = None
    contract_value: Annotated[
        PositiveMoney | None, Field(description="Contract value, VAT included.")
    ] = None
    value_difference_reason: DifferenceReason = None
    starts_on: Annotated[Day | None, Field(description="First day of the contract.")] = None
    ends_on: Annotated[Day | None, Field(description="Last day of the contract.")] = None
    notified_on: NotifiedOn = None
    document_refs: DocumentRefs = []
    terms: Annotated[ContractTermsBody | None, Field(description="Replaces all terms.")] = None
    move: Annotated[MoveContractWorkspace | None, Field(description="Move to make.")] = None

    def to_changes(self, payment_days: int) -> dict[str, Any]:
        """The fields that were sent, as they are stored."""
        sent = self.changes()
        sent.pop("move", None)
        for name in _NEVER_NULL:
            if name in sent and sent[name] is None:
                raise missing(f"/{to_camel(name)}", "This field cannot be null.")
        if self.counterparty is not None:
            sent["counterparty"] = self.counterparty.to_row()
        if "contract_value" in sent:
            sent["value"] = sent.pop("contract_value")
        if self.terms is not None:
            sent["terms"] = self.terms.to_terms(payment_days)
        if "document_refs" in sent:
            sent["document_refs"] = [one.to_row() for one in self.document_refs]
        return sent


_NEVER_NULL = ("counterparty", "contract_value", "starts_on", "ends_on", "terms")
