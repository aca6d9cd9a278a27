"""How loaded skills become tools, and how an agent finds those that aren't."""
