"""The end of a contract: checklist, final account and lessons (CON-41 to 43)."""
