"""The routes of Opportunity."""
