"""The reserved tool with which an agent reports a task that no tool here can do.

It is listed last, answered here with :data:`ACK`, and never reaches the host. The call is recorded
like any other, and that record is its purpose. A host tool with the same name takes precedence.
"""

from __future__ import annotations

from typing import Any

from callboard.calls.results import failure
from callboard.content import Json
from callboard.demand.mcpeye_strings import (
    REQUEST_CAPABILITY_ACK,
    REQUEST_CAPABILITY_CAPABILITY_DESCRIPTION,
    REQUEST_CAPABILITY_CONTEXT_DESCRIPTION,
    REQUEST_CAPABILITY_TOOL_DESCRIPTION,
    REQUEST_CAPABILITY_TOOL_NAME,
)

TOOL_NAME = REQUEST_CAPABILITY_TOOL_NAME
TOOL_DESCRIPTION = REQUEST_CAPABILITY_TOOL_DESCRIPTION
CAPABILITY_DESCRIPTION = REQUEST_CAPABILITY_CAPABILITY_DESCRIPTION
CONTEXT_DESCRIPTION = REQUEST_CAPABILITY_CONTEXT_DESCRIPTION
ACK = REQUEST_CAPABILITY_ACK


def acknowledge(arguments: object) -> Json:
    """Return the result of a call: :data:`ACK`, or a failure when the call names no capability."""
    capability = arguments.get("capability") if isinstance(arguments, dict) else None
    if not isinstance(capability, str) or not capability.strip():
        return failure(
            "the request is empty: say in 'capability', in a few words, what no tool can do"
        )
    return {"content": [{"type": "text", "text": ACK}], "isError": False}


def input_schema() -> dict[str, Any]:
    """Return the tool's input schema, a fresh dict each time. Arguments aren't validated against
    it: a malformed request is still a request."""
    return {
        "type": "object",
        "properties": {
            "capability": {"type": "string", "description": CAPABILITY_DESCRIPTION},
            "context": {"type": "string", "description": CONTEXT_DESCRIPTION},
        },
        "required": ["capability"],
    }


def descriptor() -> dict[str, Any]:
    """Return the tool's entry in ``tools/list``, a fresh dict each time."""
    return {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "inputSchema": input_schema()}
