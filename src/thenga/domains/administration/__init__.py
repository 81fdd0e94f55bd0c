"""Administration: how the platform itself is run."""
