"""Routes of subscriptions, renewals and cancellations."""
