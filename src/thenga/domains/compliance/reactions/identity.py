"""What Compliance does when Identity publishes an event."""
