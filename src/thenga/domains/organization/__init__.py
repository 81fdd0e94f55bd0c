"""Organization: who a company says it is, what it can do, and how old and proven that is."""
