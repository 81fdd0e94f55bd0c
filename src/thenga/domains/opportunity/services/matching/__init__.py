"""How well tenders fit companies, and why not."""
