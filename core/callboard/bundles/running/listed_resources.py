"""Checks the prompts and resources that a bundle's server lists before they are served as our
own."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from callboard.bundles.installed.manifest import folder_name
from callboard.bundles.running.errors import BundleError
from callboard.calls.context import AsyncToolContext
from callboard.calls.invisible import hides
from callboard.content import Json, Resource
from callboard.skills.prompts.prompt import Argument, Prompt
from callboard.skills.prompts.registry import FunctionPrompt, Messages
from callboard.skills.reserved_names import is_reserved_uri
from callboard.skills.resource_files import MAX_VARIABLES

log = logging.getLogger(__name__)

MAX_TEXT = 32_768
_PROMPT_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,128}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f]{1,2000}")
_VARIABLE = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}")

#: Sends a request to the server on behalf of the call that a context belongs to.
AskServer = Callable[[AsyncToolContext, str, Json], Awaitable[Json]]


@dataclass(frozen=True)
class ListedResource:
    """A resource, or a template if the URI has ``{variables}``. ``read`` is a coroutine that takes
    the variables by name, and ``ctx``."""

    uri: str
    name: str
    title: str | None
    description: str | None
    mime_type: str
    read: Callable[..., Awaitable[list[Resource]]]


def prompts_of(bundle: str, entries: list[Any], ask: AskServer) -> list[FunctionPrompt]:
    """Return the prompts to serve, named ``<bundle>.<name>``. Prompts that can't be served are
    logged and left out."""
    by_name: dict[str, FunctionPrompt] = {}
    for entry in entries:
        try:
            prompt = _prompt(bundle, entry, ask)
        except ValueError as error:
            log.warning("%s: a prompt isn't served: %s", bundle, error)
            continue
        by_name.setdefault(prompt.prompt.served_name, prompt)
    return list(by_name.values())


def _prompt(bundle: str, entry: Any, ask: AskServer) -> FunctionPrompt:
    own = _text(entry, "name")
    if own is None or hides(own) or not _PROMPT_NAME.fullmatch(own):
        raise ValueError("it has no name that can be served")
    written = entry.get("arguments") or []
    if not isinstance(written, list):
        raise ValueError(f"the arguments of '{own}' aren't a list")
    arguments = [
        Argument(name, _text(one, "description") or "", one.get("required") is True)
        for one in written
        if (name := _text(one, "name"))
    ]
    skill = folder_name(bundle)

    async def messages(*, ctx: AsyncToolContext, **given: str) -> Messages:
        filled = {name: value for name, value in given.items() if value != ""}
        answer = await ask(ctx, "prompts/get", {"name": own, "arguments": filled})
        messages = answer.get("messages")
        if not isinstance(messages, list) or not all(_is_message(one) for one in messages):
            raise BundleError("the bundle sent a prompt without messages")
        return Messages(messages, _text(answer, "description"))

    prompt = Prompt(
        f"{skill}.{own}",
        skill,
        "manual",
        (_text(entry, "description") or own)[:MAX_TEXT],
        "",
        tuple(arguments),
        literal=True,
    )
    return FunctionPrompt(prompt, messages, _text(entry, "title"))


def resources_of(bundle: str, entries: list[Any], ask: AskServer) -> list[ListedResource]:
    """Return the resources and templates that can be served. Others are logged and left out."""
    resources: dict[str, ListedResource] = {}
    for entry in entries:
        uri = _text(entry, "uri") or _text(entry, "uriTemplate")
        if uri is None or hides(uri) or not _URI.fullmatch(uri) or not _is_usable(uri):
            log.warning("%s: resource %.80r isn't served: its URI has no known form", bundle, uri)
            continue
        if is_reserved_uri(uri, folder_name(bundle)):
            log.warning(
                "%s: resource %.80r isn't served: its URI belongs to callboard", bundle, uri
            )
            continue
        resources.setdefault(uri, _resource(bundle, uri, entry, ask))
    return list(resources.values())


def _is_usable(uri: str) -> bool:
    """Return whether all variables in a URI have different names."""
    names = [name for _, name in _VARIABLE.findall(uri)]
    return len(set(names)) == len(names) <= MAX_VARIABLES and "{" not in _VARIABLE.sub("", uri)


def _resource(bundle: str, uri: str, entry: Mapping[str, Any], ask: AskServer) -> ListedResource:
    is_template = "uri" not in entry

    async def read(*, ctx: AsyncToolContext, **variables: str) -> list[Resource]:
        def value(match: re.Match[str]) -> str:
            return quote(variables[match[2]], safe="/:@!$&'()*+,;=" if match[1] else "")

        wanted = _VARIABLE.sub(value, uri) if is_template else uri
        answer = await ask(ctx, "resources/read", {"uri": wanted})
        contents = answer.get("contents")
        if not isinstance(contents, list):
            raise BundleError("the bundle sent a resource without contents")
        return [_content(bundle, one) for one in contents]

    return ListedResource(
        uri,
        _text(entry, "name") or uri,
        _text(entry, "title"),
        (_text(entry, "description") or "")[:MAX_TEXT] or None,
        _text(entry, "mimeType") or "text/plain",
        read,
    )


def _content(bundle: str, entry: Any) -> Resource:
    from base64 import b64decode

    uri, text, blob = _text(entry, "uri"), _text(entry, "text"), _text(entry, "blob")
    if uri is None or (text is None and blob is None):
        raise BundleError("the bundle sent a resource with neither text nor blob")
    if is_reserved_uri(uri, folder_name(bundle)):
        raise BundleError("the bundle sent a resource under a URI that belongs to callboard")
    try:
        content = text if text is not None else b64decode(blob or "", validate=True)
    except ValueError:
        raise BundleError("the bundle sent a blob that isn't base64") from None
    return Resource(uri, content, _text(entry, "mimeType") or "text/plain")


def _is_message(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("role") in ("user", "assistant")
        and isinstance(entry.get("content"), dict)
    )


def _text(entry: Any, key: str) -> str | None:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else None
