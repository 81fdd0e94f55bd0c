"""What Compliance does when Learning publishes an event."""
