"""Jobs that fill profiles and publish the catalogue."""
