"""Documents of tenders: fetched or uploaded, scanned, read and found."""
