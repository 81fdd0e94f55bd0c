"""History: what happened to each message, append-only."""
