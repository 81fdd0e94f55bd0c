"""The registry of Contract's reactions."""

from thenga.domains.contract.services import tenants
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("contract", is_sandbox=tenants.TENANTS.is_sandbox)
