"""Notification: messages to people, with a reason for each one that was not sent."""
