"""The API document: made from the routes and models, and the pages that show it to people."""
