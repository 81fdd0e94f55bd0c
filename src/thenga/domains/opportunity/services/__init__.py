"""What Opportunity decides, by room."""
