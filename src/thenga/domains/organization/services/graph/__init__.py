"""Graph: how companies, people and assets are connected."""

from thenga.domains.organization.services.graph.graph import MOST_NODES, Asked, explore
from thenga.domains.organization.services.graph.nodes import FACT, READ

__all__ = [
    "FACT",
    "MOST_NODES",
    "READ",
    "Asked",
    "explore",
]
