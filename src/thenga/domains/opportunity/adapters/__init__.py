"""The outside world: feeds of tenders and hosts of documents."""
