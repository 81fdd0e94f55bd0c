"""Routes of payments, payment methods and refunds."""
