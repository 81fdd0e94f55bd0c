"""The registry of Contract's reactions."""

from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("contract")
