"""The HTTP edge: what a request meets before a domain sees it, and how a refusal is told."""
