"""Contract: the promise that follows a won bid, its changes, and the money that follows from it."""
