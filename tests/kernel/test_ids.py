from uuid import UUID

from thenga.kernel.values.ids import new_id


def test_later_identifiers_are_greater_and_none_comes_twice():
    made = [new_id() for _ in range(100_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {type(one) for one in made} == {UUID}
    assert {one.version for one in made[:100]} == {7}
