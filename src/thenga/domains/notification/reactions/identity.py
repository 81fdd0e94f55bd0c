"""Events of Identity that become messages to the person concerned (NOT-3)."""
