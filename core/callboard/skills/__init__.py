"""Finds, reads, checks, searches and watches skills. A skill's code is imported only once a call
needs it."""
