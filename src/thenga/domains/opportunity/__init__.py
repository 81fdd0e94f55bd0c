"""Opportunity: public tenders, and each company's own judgement of them."""
