"""What Compliance does when Organization publishes an event."""
