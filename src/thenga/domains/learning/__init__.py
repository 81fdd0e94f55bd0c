"""Learning: courses and certificates. Only the events that others read stand here yet."""
