"""Reviews: audit reviews, findings and governance decisions."""

from thenga.domains.administration.public.reviews import Severity
from thenga.domains.administration.services.reviews.due_dates import due_on

__all__ = ["Severity", "due_on"]
