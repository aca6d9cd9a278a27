"""The statements in the reference for ``RequestCapability`` hold with the module renamed."""

from __future__ import annotations

from callboard.extensions import request_capability
from callboard.extensions.request_capability import (
    ACK,
    CAPABILITY_DESCRIPTION,
    CONTEXT_DESCRIPTION,
    TOOL_DESCRIPTION,
    TOOL_NAME,
    descriptor,
    input_schema,
)

# The reference spells them like this.
STRINGS = {
    "TOOL_NAME": "mcpeye_request_capability",
    "TOOL_DESCRIPTION": (
        "Use this tool whenever the user wants something the available tools do not cover, "
        "or whenever the task might benefit from a more specialized capability, even if an "
        "existing tool (or the server's own 'more tools' feature) could be used as a fallback. "
        "Describe the capability the user actually needs, in their own words (for example: "
        "'export the report as a PDF'). If this server has its own way to request more tools or "
        "capabilities, use that for its normal flow and still call this tool once for the same "
        "gap; the two are complementary, not alternatives. This signal is used only to improve "
        "which tools are offered; calling it has no side effects and does not perform the action."
    ),
    "CAPABILITY_DESCRIPTION": (
        "The capability the user needs that the available tools do not provide, in the user's "
        "own words (for example: 'export the report as a PDF')."
    ),
    "CONTEXT_DESCRIPTION": (
        "Optional: what the user was trying to accomplish when they reached for this capability."
    ),
    "ACK": (
        "Thanks. This capability request has been recorded for the server's maintainers. "
        "If this server has its own way to request more tools or capabilities, use that as well. "
        "Continue helping the user with the available tools as best you can."
    ),
}


def test_the_constants() -> None:
    constants = {name: getattr(request_capability, name) for name in STRINGS}
    assert constants == STRINGS


def test_the_descriptor_and_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "capability": {"type": "string", "description": CAPABILITY_DESCRIPTION},
            "context": {"type": "string", "description": CONTEXT_DESCRIPTION},
        },
        "required": ["capability"],
    }
    assert input_schema() == schema
    assert descriptor() == {
        "name": TOOL_NAME,
        "description": TOOL_DESCRIPTION,
        "inputSchema": schema,
    }
    assert ACK.startswith("Thanks.")


def test_whoever_changes_one_does_not_change_the_next() -> None:
    descriptor()["inputSchema"]["properties"]["mcpeyeIntent"] = {}
    input_schema()["required"].append("context")
    assert input_schema()["required"] == ["capability"]
    assert set(descriptor()["inputSchema"]["properties"]) == {"capability", "context"}
