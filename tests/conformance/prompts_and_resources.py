"""Fixtures of the official suite: prompts and resources."""

from __future__ import annotations

import json
from typing import Any

from content_tools import PNG

from callboard import content
from callboard.calls.context import ToolContext
from callboard.service.resources import ResourceRegistry, ServedResource
from callboard.skills.prompts.prompt import Argument
from callboard.skills.prompts.registry import PromptRegistry


def with_resource(resourceUri: str) -> list[Any]:
    resource = content.Resource(resourceUri, "Embedded resource content for testing.")
    return [resource, "Please process the embedded resource above."]


def with_image() -> list[Any]:
    return [content.Image(PNG), "Please analyze the image above."]


def with_question(ctx: ToolContext) -> str:
    schema = {
        "type": "object",
        "properties": {"context": {"type": "string"}},
        "required": ["context"],
    }
    answer = ctx.elicit("What is this about?", schema, key="user_context")
    return f"Work with this: {answer.content.get('context', 'nothing')}"


def add_prompts(prompts: PromptRegistry) -> None:
    prompts.register_prompt(
        "test_simple_prompt",
        "A prompt without arguments.",
        template="This is a simple prompt for testing.",
    )
    prompts.register_prompt(
        "test_prompt_with_arguments",
        "A prompt with two arguments.",
        arguments=[
            {"name": "arg1", "description": "The first one", "required": True},
            {"name": "arg2", "description": "The second one", "required": True},
        ],
        template="Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'",
    )
    prompts.register_function(
        "test_prompt_with_embedded_resource",
        with_resource,
        "A prompt that holds a resource.",
        [Argument("resourceUri", "Which resource", required=True)],
    )
    prompts.register_function("test_prompt_with_image", with_image, "A prompt that holds an image.")
    prompts.register_function(
        "test_input_required_result_prompt", with_question, "A prompt that asks first."
    )


def template_data(id: str) -> str:
    data = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
    return json.dumps(data, separators=(",", ":"))


def add_resources(resources: ResourceRegistry) -> None:
    resources.add(
        ServedResource(
            "test://static-text",
            "static text",
            lambda: "This is the content of the static text resource.",
        ),
        ServedResource("test://static-binary", "static binary", lambda: PNG, mime_type="image/png"),
        ServedResource("test://watched-resource", "watched resource", lambda: "Watch me."),
        ServedResource(
            "test://template/{id}/data",
            "data by id",
            template_data,
            mime_type="application/json",
        ),
    )
