"""What Billing decides: a module a resource, and the rules as pure functions of values."""
