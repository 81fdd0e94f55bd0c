"""Jobs that load tenders and compute readiness."""
