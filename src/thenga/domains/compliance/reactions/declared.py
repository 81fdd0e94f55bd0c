"""The registry of Compliance's reactions."""

from thenga.domains.compliance.services import tenants
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("compliance", is_sandbox=tenants.TENANTS.is_sandbox)
