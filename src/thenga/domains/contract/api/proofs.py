"""References to documents of other domains, and what shows that the buyer confirmed something."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from thenga.domains.contract.services.workspaces import Proof
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import Day, matching, text
from thenga.kernel.values.references import Reference


class ContractReference(Body):
    """A document or evidence stored by another domain."""

    domain: Annotated[str, matching("^[a-z]{3,20}$", 20), Field(description="Owning domain.")]
    type: Annotated[
        str, matching("^[a-z][A-Za-z]{1,39}$", 40), Field(description="Type of resource.")
    ]
    id: Annotated[UUID, Field(description="ID of the resource.")]

    def to_reference(self) -> Reference:
        return Reference(domain=self.domain, type=self.type, id=self.id)

    def to_row(self) -> dict[str, Any]:
        return self.to_reference().model_dump(mode="json")


class ContractReferenceView(View):
    """A document or evidence stored by another domain."""

    domain: Annotated[str, Field(description="Owning domain.")]
    type: Annotated[str, Field(description="Type of resource.")]
    id: Annotated[UUID, Field(description="ID of the resource.")]


class DocumentProof(Body):
    """Evidence that the buyer confirmed something."""

    evidence_refs: Annotated[
        list[ContractReference],
        Field(max_length=50, description="Documents as evidence, at least one."),
    ]
    confirmed_on: Annotated[Day, Field(description="Date of the confirmation.")]
    by_position: Annotated[
        str, text(1, 120), Field(description="Position of the person who confirmed it.")
    ]
    by_name: Annotated[
        Annotated[str, text(1, 120)] | None,
        Field(description="Name of the person who confirmed it."),
    ] = None

    def to_proof(self) -> Proof:
        return Proof(
            evidence_refs=[one.to_reference() for one in self.evidence_refs],
            confirmed_on=self.confirmed_on,
            by_position=self.by_position,
            by_name=self.by_name,
        )
