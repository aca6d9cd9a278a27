"""Ways of finding capabilities that agents lacked: the reserved tool, the intent, the report."""
