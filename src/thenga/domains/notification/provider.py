"""Notification's ports, answered in this process."""
