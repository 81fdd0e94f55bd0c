"""Valid rows with sensible defaults, one module a domain; a test names only what matters."""
