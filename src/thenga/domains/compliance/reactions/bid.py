"""What Compliance does when Bid publishes an event."""
