"""Runs of workflows. Reading what skills wrote is :mod:`callboard.skills.workflows`."""

#: The tool that runs one.
RUN = "workflows__run"
