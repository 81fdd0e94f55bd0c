"""Jobs that reopen accepted risks."""
