"""Proposals: drafts, sections and their versions, review, suggestions; the requirement matrix."""
