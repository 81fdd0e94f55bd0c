"""Values that every layer may use: money, identifiers, time, networks, field types."""
