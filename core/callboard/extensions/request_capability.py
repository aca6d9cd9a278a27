"""The reserved tool's strings and schema, for authors of other servers to import."""

from callboard.demand.request_capability import (
    ACK,
    CAPABILITY_DESCRIPTION,
    CONTEXT_DESCRIPTION,
    TOOL_DESCRIPTION,
    TOOL_NAME,
    descriptor,
    input_schema,
)

__all__ = [
    "ACK",
    "CAPABILITY_DESCRIPTION",
    "CONTEXT_DESCRIPTION",
    "TOOL_DESCRIPTION",
    "TOOL_NAME",
    "descriptor",
    "input_schema",
]
