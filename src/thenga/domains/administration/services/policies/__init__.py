"""Policies: approved by another person, published, acknowledged by the target domain."""

__all__: list[str] = []
