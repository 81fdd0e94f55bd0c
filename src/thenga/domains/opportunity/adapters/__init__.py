"""Where Opportunity reads from outside: feeds and document hosts."""
