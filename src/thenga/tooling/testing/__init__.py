"""What tests of every domain use; no process that serves imports it."""
