"""The capabilities that agents needed but didn't get: the reserved tool, the intent, the report."""
