"""Packages and matters with suppliers, and how far a supplier is trusted (CON-35)."""

from thenga.domains.contract.services.suppliers.relationships import relationship_of

__all__ = ["relationship_of"]
