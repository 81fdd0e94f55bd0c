"""Identity: who acts, what they proved, where they belong and what they may do there."""
