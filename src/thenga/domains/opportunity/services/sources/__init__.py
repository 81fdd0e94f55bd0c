"""Sources of tenders and what they send."""
