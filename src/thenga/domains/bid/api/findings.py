"""Findings as prices, forms and packs show them."""

from typing import Annotated, Literal

from pydantic import Field

from thenga.domains.bid.values.findings import Class, Finding
from thenga.kernel.http.bodies import View


class BidFindingView(View):
    """A problem that was found, its subject and how to fix it."""

    key: Annotated[str, Field(description="Key used to override or acknowledge it.")]
    code: Annotated[str, Field(description="Kind of finding.")]
    severity: Annotated[Class, Field(description="Severity of the finding.")]
    subject: Annotated[str, Field(description="Subject of the finding.")]
    text: Annotated[str, Field(description="Description of the problem.")]
    remedy: Annotated[str, Field(description="How to fix it.")]
    overridable: Annotated[bool, Field(description="Whether it can be overridden.")]
    state: Annotated[
        Literal["open", "overridden", "acknowledged", "passed"],
        Field(description="State of the finding."),
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
