"""Runs workflows. Their files are read by :mod:`callboard.skills.workflows`."""

#: The tool that runs a workflow.
RUN = "workflows__run"
