"""What a tender asks for, with the page on which it stands."""
