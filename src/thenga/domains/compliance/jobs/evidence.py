"""Jobs about evidence and verifications."""
