"""Forms: the catalogue, answers by reference, rendering and signatures."""
