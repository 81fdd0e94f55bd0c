"""Payment providers behind one interface."""
