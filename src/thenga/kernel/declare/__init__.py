"""What a domain declares: events, jobs, ports, reactions, lifecycles, permissions, its manifest."""
