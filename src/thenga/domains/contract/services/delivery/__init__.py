"""Delivery: plans, milestones, deliverables and measured performance (CON-7 to 12, 37)."""
