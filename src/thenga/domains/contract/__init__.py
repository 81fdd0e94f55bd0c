"""Contract: from the award to the final account."""
