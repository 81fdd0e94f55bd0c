"""Findings as prices, forms and packs show them."""

from typing import Annotated, Literal

from pydantic import Field

from thenga.domains.bid.values.findings import Class, Finding
from thenga.kernel.http.bodies import View


class BidFindingView(View):
    """Something that was found, what it is about, and what helps."""

    key: Annotated[str, Field(description="Name by which it is overridden or acknowledged.")]
    code: Annotated[str, Field(description="Kind of finding.")]
    severity: Annotated[Class, Field(description="How much it weighs.")]
    subject: Annotated[str, Field(description="What it is about.")]
    text: Annotated[str, Field(description="What was found, for people.")]
    remedy: Annotated[str, Field(description="What helps.")]
    overridable: Annotated[bool, Field(description="Whether somebody can override it.")]
    state: Annotated[
        Literal["open", "overridden", "acknowledged", "passed"],
        Field(description="Whether it still stands."),
    ]

    @classmethod
    def of(cls, one: Finding, state: str | None = None) -> "BidFindingView":
        passed = one.severity is Class.PASSED
        return cls.model_validate(
            {
                **one.to_row(),
                "key": one.key,
                "state": state or ("passed" if passed else "open"),
            }
        )
