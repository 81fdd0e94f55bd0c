"""Compliance: papers and evidence, their verification, and what is missing on any day."""
