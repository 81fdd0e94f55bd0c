"""The registry of Notification's reactions."""

from thenga.domains.notification.services import tenants
from thenga.kernel.declare.reaction import Reactions

reactions = Reactions("notification", is_sandbox=tenants.TENANTS.is_sandbox)
