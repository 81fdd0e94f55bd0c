"""The catalogue, the profile and the requirements of a company."""
