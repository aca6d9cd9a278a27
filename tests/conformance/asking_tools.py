"""Fixtures of the official suite: tools that ask their client before they answer."""

from __future__ import annotations

import json
from typing import Any

from callboard.calls import client_questions
from callboard.calls.context import AsyncToolContext, ToolContext
from callboard.calls.tools import ToolRegistry
from callboard.content import Text

Schema = dict[str, Any]


def form(**properties: Schema) -> Schema:
    """Return a form whose fields must all be filled in."""
    return {"type": "object", "properties": properties, "required": list(properties)}


STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NAME_FORM = form(name=STRING)
OK_FORM = form(ok=BOOLEAN)
DEFAULTS_FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}


def titled(word: str) -> list[Schema]:
    ordinals = ("First", "Second", "Third")
    return [{"const": f"value{n}", "title": f"{o} {word}"} for n, o in enumerate(ordinals, 1)]


OPTIONS = ["option1", "option2", "option3"]
ENUMS_FORM = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    },
}


def described(answer: client_questions.Elicited) -> str:
    return f"action={answer.action}, content={json.dumps(answer.content)}"


def sampled_text(sampled: dict[str, Any]) -> str:
    """Return the text of a model's answer, which may have several blocks."""
    content = sampled["content"]
    blocks = content if isinstance(content, list) else [content]
    return " ".join(block.get("text", "") for block in blocks)


# -- one question ---------------------------------------------------------------------------


def sample(prompt: str, ctx: ToolContext) -> Text:
    return Text(f"LLM response: {sampled_text(ctx.sample(prompt, 100))}")


def elicit(message: str, ctx: ToolContext) -> Text:
    answer = ctx.elicit(message, form(username=STRING, email=STRING))
    return Text(f"User response: {described(answer)}")


def elicit_defaults(ctx: ToolContext) -> Text:
    answer = ctx.elicit("Please review these values.", DEFAULTS_FORM)
    return Text(f"Elicitation completed: {described(answer)}")


async def elicit_enums(ctx: AsyncToolContext) -> Text:
    answer = await ctx.elicit("Please choose.", ENUMS_FORM)
    return Text(f"Elicitation completed: {described(answer)}")


def need_sampling(ctx: ToolContext) -> Text:
    return Text(sampled_text(ctx.sample("Say anything.", 10)))


def ask_name(ctx: ToolContext) -> Text:
    answer = ctx.elicit("What is your name?", NAME_FORM, key="user_name")
    return Text(f"Hello, {answer.content.get('name', 'stranger')}!")


def ask_model(ctx: ToolContext) -> Text:
    return Text(
        sampled_text(ctx.sample("What is the capital of France?", 100, key="capital_question"))
    )


def ask_roots(ctx: ToolContext) -> Text:
    roots = ctx.roots
    names = [] if roots is None else [root.name for root in roots.roots]
    return Text(f"Roots: {', '.join(map(str, names))}")


def ask_with_state(ctx: ToolContext) -> Text:
    answer = ctx.elicit("Please confirm.", OK_FORM, key="confirm")
    return Text(f"state-ok, {described(answer)}")


# -- several questions ----------------------------------------------------------------------


def ask_everything(ctx: ToolContext) -> Text:
    answers = ctx.ask_all(
        user_name=client_questions.elicitation("What is your name?", NAME_FORM),
        greeting=client_questions.sampling("Generate a greeting", 50),
        client_roots=client_questions.roots(),
    )
    return Text(f"{sampled_text(answers['greeting'])} {described(answers['user_name'])}")


async def ask_twice(ctx: AsyncToolContext) -> Text:
    name = await ctx.elicit("Step 1: What is your name?", NAME_FORM, key="step1")
    color = await ctx.elicit("Step 2: Which color?", form(color=STRING), key="step2")
    return Text(f"{described(name)}; {described(color)}")


def ask_what_is_possible(ctx: ToolContext) -> Text:
    possible = {}
    if "elicitation" in ctx.client_capabilities:
        possible["user_name"] = client_questions.elicitation("What is your name?", NAME_FORM)
    if "sampling" in ctx.client_capabilities:
        possible["greeting"] = client_questions.sampling("Generate a greeting", 50)
    answers = ctx.ask_all(**possible)
    return Text(f"Answered: {', '.join(answers) or 'nothing was asked'}")


def add_asking_tools(tools: ToolRegistry) -> None:
    """Register the tools that ask. In a session, they ask over its stream. A stateless request is
    answered with the questions, and the client repeats it with its answers."""
    wanted = "test_input_required_result_"
    tools.register("test_sampling", sample, "Asks the client's model.", form(prompt=STRING))
    tools.register("test_elicitation", elicit, "Asks the person.", form(message=STRING))
    tools.register(
        "test_elicitation_sep1034_defaults", elicit_defaults, "Asks with defaults filled in."
    )
    tools.register("test_elicitation_sep1330_enums", elicit_enums, "Asks with every kind of enum.")
    tools.register("test_missing_capability", need_sampling, "Can't do without sampling.")
    tools.register("test_streaming_elicitation", ask_name, "Asks for a name.")
    tools.register(wanted + "elicitation", ask_name, "Asks for a name.")
    tools.register(wanted + "sampling", ask_model, "Asks the client's model.")
    tools.register(wanted + "list_roots", ask_roots, "Asks for the client's roots.")
    tools.register(wanted + "request_state", ask_with_state, "Asks, and carries a state.")
    tools.register(wanted + "tampered_state", ask_with_state, "Asks, and trusts no edited state.")
    tools.register(wanted + "multiple_inputs", ask_everything, "Asks three things at once.")
    tools.register(wanted + "multi_round", ask_twice, "Asks twice.")
    tools.register(wanted + "capabilities", ask_what_is_possible, "Asks what the client can.")
