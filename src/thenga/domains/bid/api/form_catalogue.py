"""The catalogue of bid forms."""

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import forms
from thenga.domains.bid.tables import FormDefinition
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.values.fields import Day, text

router = make_router("Bid / Form catalogue")


class FormFieldView(View):
    """A field of a form."""

    id: Annotated[str, Field(description="ID of the field in its form.")]
    label: Annotated[str, Field(description="Wording on the form.")]
    type: Annotated[str, Field(description="Type of the answer.")]
    required: Annotated[bool, Field(description="Whether an answer is always required.")]
    required_if: Annotated[
        dict[str, str] | None, Field(description="Answers to other fields that make it required.")
    ]
    source: Annotated[str | None, Field(description="Source of the proposed answer.")]
    material: Annotated[
        bool, Field(description="Whether a change of its source makes the form out of date.")
    ]
    sealed: Annotated[bool, Field(description="Whether its value is printed and never stored.")]
    declaration: Annotated[bool, Field(description="Whether only a person can answer it.")]
    options: Annotated[list[str], Field(description="Answers to choose from.")]


class FormDefinitionView(View):
    """One edition of a form."""

    form_code: Annotated[str, Field(description="Code of the form.")]
    edition: Annotated[str, Field(description="Edition of the form.")]
    regime: Annotated[str, Field(description="Law under which buyers use it: pfma, mfma or any.")]
    title: Annotated[str, Field(description="Official title.")]
    twin: Annotated[str | None, Field(description="Equivalent form of the other regime.")]
    effective_from: Annotated[date, Field(description="First day in force.")]
    effective_to: Annotated[date | None, Field(description="Last day in force.")]
    superseded_by: Annotated[str | None, Field(description="Edition that replaces it.")]
    stage: Annotated[str, Field(description="Stage: bid or award.")]
    per_bidder: Annotated[bool, Field(description="Whether each joint bidder fills it in.")]
    signature: Annotated[bool, Field(description="Whether it needs a signature.")]
    mark: Annotated[str | None, Field(description="How certain its wording is.")]
    fields: Annotated[list[FormFieldView] | None, Field(description="Fields, if included.")]

    @classmethod
    def of(cls, one: FormDefinition, *, with_fields: bool) -> "FormDefinitionView":
        fields = [_field(row) for row in one.definition["fields"]] if with_fields else None
        return cls.model_validate(one.__dict__ | {"fields": fields})


def _field(row: dict[str, Any]) -> FormFieldView:
    return FormFieldView(
        id=row["id"],
        label=row["label"],
        type=row["type"],
        required=row.get("required", False),
        required_if=row.get("requiredIf"),
        source=row.get("source"),
        material=row.get("material", False),
        sealed=row.get("sealed", False),
        declaration=row.get("declaration", False),
        options=row.get("options", []),
    )


class FormCatalogueView(View):
    """Editions of the forms in the catalogue."""

    items: Annotated[list[FormDefinitionView], Field(description="Editions, sorted by code.")]


@router.get("/bids/form-catalogue")
async def list_form_definitions(
    read: Annotated[Reader, reads(Permission.FORM_CATALOGUE_READ)],
    regime: Annotated[
        Literal["pfma", "mfma"] | None, Query(description="Filter by regime.")
    ] = None,
    on: Annotated[Day | None, Query(description="Editions in force on this date.")] = None,
    form_code: Annotated[
        Annotated[str, text(1, 40)] | None,
        Query(alias="formCode", description="Filter by the code of the form."),
    ] = None,
    stage: Annotated[Literal["bid", "award"] | None, Query(description="Filter by stage.")] = None,
    include: Annotated[
        Literal["fields"] | None, Query(description="Include the fields of each form.")
    ] = None,
) -> FormCatalogueView:
    """List the forms that you can fill in, with their editions."""
    found = await forms.list_definitions(
        read, regime=regime, on=on, form_code=form_code, stage=stage
    )
    shown = [FormDefinitionView.of(one, with_fields=include == "fields") for one in found]
    return FormCatalogueView(items=shown)
