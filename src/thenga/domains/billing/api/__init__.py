"""The routes of Billing: a module a resource."""
