"""``completion/complete``: the possible values of a prompt's or a resource template's argument."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from callboard.calls.entry import Completer
from callboard.calls.invisible import shown
from callboard.content import Json
from callboard.errors import InvalidParams, ResourceNotFound
from callboard.service.resources import ResourceRegistry
from callboard.skills.prompts.prompt import Prompt
from callboard.skills.prompts.registry import FunctionPrompt

#: Maximum number of values in one answer (2025-11-25, Completion).
VALUE_LIMIT = 100

FindPrompt = Callable[[str], Awaitable[tuple[Prompt, FunctionPrompt | None]]]


async def complete(params: Json, find_prompt: FindPrompt, resources: ResourceRegistry) -> Json:
    """Return the result. Raises InvalidParams."""
    reference, argument = params.get("ref"), params.get("argument")
    if not isinstance(reference, dict):
        raise InvalidParams("params.ref must be an object")
    if not isinstance(argument, dict):
        raise InvalidParams("params.argument must be an object")
    name, typed = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise InvalidParams("params.argument needs a name and a value, both strings")
    completer = await _completer(reference, find_prompt, resources)
    values = completer(name, typed) if completer is not None else []
    return {
        "completion": {
            "values": shown(values[:VALUE_LIMIT]),
            "total": len(values),
            "hasMore": len(values) > VALUE_LIMIT,
        }
    }


async def _completer(
    reference: Json, find_prompt: FindPrompt, resources: ResourceRegistry
) -> Completer | None:
    if reference.get("type") == "ref/prompt":
        name = reference.get("name")
        if not isinstance(name, str):
            raise InvalidParams("params.ref.name must be a string")
        function = (await find_prompt(name))[1]
        return function.complete if function is not None else None
    if reference.get("type") == "ref/resource":
        uri = reference.get("uri")
        if not isinstance(uri, str):
            raise InvalidParams("params.ref.uri must be a string")
        resource = resources.get(uri)
        if resource is None:
            raise ResourceNotFound(uri)
        return resource.complete
    raise InvalidParams("params.ref.type must be ref/prompt or ref/resource")
