"""What agents asked for and did not get: the reserved tool, the intent, the report."""
