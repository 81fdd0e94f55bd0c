"""Amendments: what a change of the tender touches, and reconfirmation."""
