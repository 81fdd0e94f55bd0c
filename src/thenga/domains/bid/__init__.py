"""Bid: not built yet; only the events that other domains react to."""
