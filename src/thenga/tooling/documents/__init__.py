"""The pages of `docs/` that are made from the code, and the search for a place in it."""
