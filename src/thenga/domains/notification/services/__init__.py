"""What Notification decides."""
