"""Routes of invoices and credit notes."""
