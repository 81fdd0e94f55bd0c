"""Routes of Notification."""
