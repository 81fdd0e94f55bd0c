"""The factors of a score, as answers show them and matches keep them."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from thenga.kernel.values.shapes import Shape


class Factor(Shape):
    """One factor of a score; the points of all factors add up to it."""

    key: Annotated[str, Field(description="What is judged.")]
    weight: Annotated[int, Field(description="Weight among the factors that apply.")]
    value: Annotated[Decimal, Field(description="From 0 to 1.")]
    points: Annotated[Decimal, Field(description="What it adds to the score.")]
    why: Annotated[str, Field(description="What the value rests on.")]


class Score(Shape):
    """A score from 0 to 100 with its factors. No payment and no rating is among them."""

    score: Annotated[Decimal, Field(description="Score from 0 to 100, with one decimal.")]
    factors: Annotated[list[Factor], Field(description="Factors that apply.")]
