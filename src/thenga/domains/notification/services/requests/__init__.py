"""Requests: accepting, planning in batches, completing; the inbox of a person."""
