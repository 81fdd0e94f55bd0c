"""Request models, shared fields and filters of Administration."""
