"""Routes of Organization: they translate, services decide."""
