"""Payment providers, each behind the same few questions."""
