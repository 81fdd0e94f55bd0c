"""What requests may say: fields, bodies and filters, a module a resource."""
