"""Watchlists, saved tenders and the telling of deadlines."""
