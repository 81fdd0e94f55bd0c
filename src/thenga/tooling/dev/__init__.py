"""Servers of one's own for work and tests, and the examination of any installation."""
