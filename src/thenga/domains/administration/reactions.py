"""Administration's reactions to events of other domains."""

from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("administration")
