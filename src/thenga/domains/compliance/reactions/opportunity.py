"""What Compliance does when Opportunity publishes an event."""
