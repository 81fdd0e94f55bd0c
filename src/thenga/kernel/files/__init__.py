"""Files: kept under keys that we make, scanned, and readable only when they are clean."""
