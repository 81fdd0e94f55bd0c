"""Billing: what an organization has bought, may do, has used, owes and has paid."""
