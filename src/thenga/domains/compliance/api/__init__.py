"""Routes of Compliance, by resource."""
