"""Fixtures of the official suite: tools that return, log and report everything that a tool may."""

from __future__ import annotations

import asyncio
import base64
import itertools
from typing import Any

from callboard.calls.context import AsyncToolContext
from callboard.calls.tools import ToolRegistry
from callboard.content import Audio, Image, Resource, Text
from callboard.skills.prompts.registry import PromptRegistry

#: One red pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
#: A mono recording of two samples of silence.
WAV = (
    b"RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
    b"\x02\x00\x10\x00data\x04\x00\x00\x00\x00\x00\x00\x00"
)
#: Seconds between two messages from a tool that sends messages while it works.
PAUSE = 0.05

SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def simple_text() -> Text:
    return Text("This is a simple text response for testing.")


def image() -> Image:
    return Image(PNG)


def audio() -> Audio:
    return Audio(WAV)


def embedded_resource() -> Resource:
    return Resource("test://embedded-resource", "This is an embedded resource content.")


def several_blocks() -> list[Text | Image | Resource]:
    data = '{"test":"data","value":123}'
    return [
        Text("Multiple content types test:"),
        Image(PNG),
        Resource("test://mixed-content-resource", data, "application/json"),
    ]


def fails() -> None:
    raise RuntimeError("This tool intentionally returns an error for testing")


async def logs(ctx: AsyncToolContext) -> Text:
    for step in ("started", "processing data", "completed"):
        ctx.log("info", f"Tool {step}" if " " in step else f"Tool execution {step}")
        await asyncio.sleep(PAUSE)
    return Text("Logged three times.")


def logs_once(ctx: Any) -> Text:
    ctx.log("info", "One message for those who asked for it")
    return Text("Logged once.")


async def reports_progress(ctx: AsyncToolContext) -> Text:
    for done in (0, 50, 100):
        ctx.progress(done, 100, f"{done} of 100")
        await asyncio.sleep(PAUSE)
    return Text("Reported three times.")


def echo_arguments(**arguments: Any) -> dict[str, Any]:
    return arguments


def add_content_tools(tools: ToolRegistry) -> None:
    """Register the tools that return, log and report. Each runs on the host's main thread or on the
    loop."""
    # The suite calls the first listed tool, without arguments, and needs an answer.
    tools.register("a_simple_text", simple_text, "Returns a text.")
    tools.register("test_simple_text", simple_text, "Returns a text.")
    tools.register("test_image_content", image, "Returns an image.")
    tools.register("test_audio_content", audio, "Returns a recording.")
    tools.register("test_embedded_resource", embedded_resource, "Returns a resource.")
    tools.register("test_multiple_content_types", several_blocks, "Returns several blocks.")
    tools.register("test_error_handling", fails, "Fails.")
    tools.register("test_tool_with_logging", logs, "Logs three messages while it works.")
    tools.register("test_logging_tool", logs_once, "Logs one message.")
    tools.register("test_tool_with_progress", reports_progress, "Reports its progress.")
    tools.register(
        "json_schema_2020_12_tool",
        echo_arguments,
        "Takes arguments whose schema uses what 2020-12 has and earlier drafts don't.",
        SCHEMA_2020_12,
    )
    tools.register(
        "test_x_mcp_header",
        echo_arguments,
        "Takes an argument that a header repeats.",
        {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            "required": ["region"],
        },
    )


def add_list_changers(tools: ToolRegistry, prompts: PromptRegistry) -> None:
    """Register the tools that change the lists. Every second call reverts the call before it."""
    tool_turns, prompt_turns = itertools.cycle((True, False)), itertools.cycle((True, False))

    def change_tools() -> Text:
        if next(tool_turns):
            tools.register("test_dynamic_tool", simple_text, "Comes and goes.")
        else:
            tools.unregister("test_dynamic_tool")
        return Text("The tools changed.")

    def change_prompts() -> Text:
        if next(prompt_turns):
            prompts.register_function("test_dynamic_prompt", lambda: "Hello", "Comes and goes.")
        else:
            prompts.unregister_prompt("test_dynamic_prompt")
        return Text("The prompts changed.")

    tools.register("test_trigger_tool_change", change_tools, "Adds or removes a tool.")
    tools.register("test_trigger_prompt_change", change_prompts, "Adds or removes a prompt.")
