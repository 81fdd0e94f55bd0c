"""Approvals: four eyes, bound to the hash of what was seen."""
