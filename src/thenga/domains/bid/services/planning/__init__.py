"""Planning: the plan counted backwards from the closing, tasks and what they wait for."""
