"""The registry of Opportunity's reactions."""

from thenga.domains.opportunity.services import tenants
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("opportunity", is_sandbox=tenants.TENANTS.is_sandbox)
