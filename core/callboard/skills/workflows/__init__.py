"""Workflows as skills write them. Running them is :mod:`callboard.jobs.workflows`."""
