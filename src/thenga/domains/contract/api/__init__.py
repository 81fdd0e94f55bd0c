"""Routes and models of Contract."""
