"""The capabilities that agents needed and didn't get: the reserved tool, the intent, the report."""
