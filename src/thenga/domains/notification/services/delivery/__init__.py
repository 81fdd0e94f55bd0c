"""Delivery: sending by SMTP, SMS and in the app; attempts, reports of providers, fallback."""
