"""Jobs: declared here, kept and run by Procrastinate in the domain's own schema."""
