"""Who acts, for whom, and whether they may."""
