"""The registry of Compliance's reactions."""

from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("compliance")
