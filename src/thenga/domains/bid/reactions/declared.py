"""The registry of Bid's reactions."""

from thenga.domains.bid.services import tenants
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("bid", is_sandbox=tenants.TENANTS.is_sandbox)
