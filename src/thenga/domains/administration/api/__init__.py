"""The routes of Administration, by resource."""
