"""Sealing, tokens and the links of an audit chain."""
