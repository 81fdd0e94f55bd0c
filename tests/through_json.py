"""A port whose arguments and answers go through JSON, as between two processes."""

from typing import TypeVar

from thenga.kernel.declare.port import MethodShape, Port
from thenga.kernel.errors import Problem
from thenga.kernel.ports.binding import problem_as_json, restored, stand_in, within

P = TypeVar("P", bound=Port)


def through_json(port_class: type[P], implementation: P) -> P:
    """For tests: what would work in one process only is found on the first run."""

    async def ask(shape: MethodShape, arguments: dict[str, object]) -> object:
        sent = shape.decode_arguments(shape.encode_arguments(arguments))
        method = getattr(implementation, shape.name)
        try:
            answer = await within(port_class.port_timeout, port_class.port_name, method(**sent))
        except Problem as problem:
            raise restored(problem_as_json(problem), port_class.port_name) from None
        return shape.decode_answer(shape.encode_answer(answer))

    return stand_in(port_class, ask)
