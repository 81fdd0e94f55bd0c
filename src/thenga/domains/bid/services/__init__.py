"""The decisions of Bid, in rooms."""
