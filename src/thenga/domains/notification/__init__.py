"""Messages to people. Only the port that others ask stands yet; Identity delivers behind it."""
