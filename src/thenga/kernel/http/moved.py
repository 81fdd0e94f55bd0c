"""`Moved`: the view of a resource with a lifecycle."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.declare.lifecycle import AllowedMove, By, Lifecycle
from thenga.kernel.http.bodies import Stored


class Moved(Stored):
    """What a resource with a lifecycle shows: the status of the view, and last its moves."""

    lifecycle: ClassVar[type[Lifecycle]]

    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations of the lifecycle that you can call in this status."),
    ]

    def __init_subclass__(cls, *, lifecycle: type[Lifecycle] | None = None, **config: Any) -> None:
        super().__init_subclass__(**config)
        if lifecycle is not None:
            cls.lifecycle = lifecycle

    @classmethod
    def __pydantic_init_subclass__(cls, **config: Any) -> None:
        super().__pydantic_init_subclass__(**config)
        lifecycle = getattr(cls, "lifecycle", None)
        if lifecycle is None:
            raise TypeError(f"{cls.__name__} names no lifecycle")
        if lifecycle.axis not in cls.model_fields:
            raise TypeError(f"{cls.__name__} does not show {lifecycle.axis!r} of its lifecycle")
        # A view is built when it is first used, so the order can still change.
        cls.model_fields["allowed_moves"] = cls.model_fields.pop("allowed_moves")

    @classmethod
    def of(cls, row: Row, read: Reader, **more: Any) -> Self:
        """The view of a row, by the reader's clock and with the moves of the reader's side.

        `more` has the fields that the row does not have.
        """
        by = By.STAFF if read.held_as == HeldAs.PLATFORM else By.CALLER
        moves = cls.lifecycle.allowed(row, read.now, by=by)
        return cls.shown({**row.__dict__, "allowed_moves": moves, **more})
