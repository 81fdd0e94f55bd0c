"""Learning: courses and certificates. Only what it will tell stands here yet."""
