"""Routes of Identity: they translate, services decide."""
