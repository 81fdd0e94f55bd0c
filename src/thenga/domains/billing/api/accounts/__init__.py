"""Routes of accounts and test clocks."""
