"""The registry of Bid's reactions."""

from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("bid")
