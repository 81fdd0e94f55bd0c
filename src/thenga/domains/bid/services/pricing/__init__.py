"""Pricing: items, VAT, findings, points by the law, the cash picture."""
