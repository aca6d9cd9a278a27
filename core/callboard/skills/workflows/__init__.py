"""Workflows as skills write them. :mod:`callboard.jobs.workflows` runs them."""
