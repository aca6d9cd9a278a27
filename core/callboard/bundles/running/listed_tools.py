"""Checks the tools and results of a bundle's server before they are served as our own."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.bundles.installed.manifest import folder_name
from callboard.bundles.running.errors import BundleError
from callboard.calls.context import AsyncToolContext
from callboard.calls.entry import Entry
from callboard.calls.tools import Tool
from callboard.content import Json, Result
from callboard.errors import SkillError
from callboard.protocol.tool_names import is_tool_name

log = logging.getLogger(__name__)

MAX_DESCRIPTION = 32_768
#: ``_meta`` keys that only callboard, or the protocol, may set.
_OURS = ("callboard/", "dcc", "io.modelcontextprotocol/")

RunTool = Callable[[AsyncToolContext, str, Json], Awaitable[Any]]


@dataclass(frozen=True)
class ServerBlock:
    """A content block as the server sent it."""

    content: Mapping[str, Any]

    def block(self) -> Json:
        return dict(self.content)


def prefix(bundle: str) -> str:
    """Return the prefix of a bundle's tools: ``studio__rig_tools__`` for ``@studio/rig-tools``."""
    return re.sub(r"[^A-Za-z0-9_]", "_", folder_name(bundle)) + "__"


def tools_of(bundle: str, folder: Path, entries: list[Any], run: RunTool) -> list[Tool]:
    """Return the tools that can be served, in the list's order. Others are logged and left out.
    ``folder`` is the folder of the installed version, so that the tools of a different version have
    a different origin."""
    by_name: dict[str, Tool] = {}
    for entry in entries:
        try:
            tool = _tool(bundle, folder, entry, run)
        except (SkillError, ValueError) as error:
            name = entry.get("name") if isinstance(entry, dict) else None
            log.warning("%s: tool %.80r isn't served: %s", bundle, name, error)
            continue
        by_name.setdefault(tool.name, tool)
    return list(by_name.values())


def _tool(bundle: str, folder: Path, entry: Any, run: RunTool) -> Tool:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError("it has no name")
    own = entry["name"]
    name = prefix(bundle) + own
    if not is_tool_name(name):
        raise ValueError(f"'{name[:200]}' isn't a name that every client accepts")
    schema, output = entry.get("inputSchema"), entry.get("outputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise ValueError("its inputSchema must say type: object")
    if output is not None and not isinstance(output, dict):
        raise ValueError("its outputSchema must be an object")
    annotations = entry.get("annotations")
    icons = entry.get("icons")
    description, title = entry.get("description"), entry.get("title")

    async def work(*, ctx: AsyncToolContext, **arguments: Any) -> Any:
        return await run(ctx, own, arguments)

    tool = Tool(
        name=name,
        description=description[:MAX_DESCRIPTION] if isinstance(description, str) else own,
        input_schema=schema,
        load=lambda: Entry(work, "coroutine", True, False, True),
        output_schema=output,
        required_capabilities=_required(entry.get("_meta")),
        affinity="any",
        title=title if isinstance(title, str) else None,
        annotations=annotations if isinstance(annotations, dict) else {},
        icons=tuple(icon for icon in icons if isinstance(icon, dict))
        if isinstance(icons, list)
        else (),
        meta=_theirs(entry.get("_meta")),
        skill=bundle,
        source=lambda: str(folder),
        own_patterns=True,
    )
    tool.arguments.compile()
    if tool.output is not None:
        tool.output.compile()
    return tool


def result_of(answer: Mapping[str, Any]) -> Result:
    """Return the result of the server's ``tools/call``. Raises BundleError when it is invalid."""
    content = answer.get("content", [])
    if not isinstance(content, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        raise BundleError("the bundle sent a result whose content isn't a list of blocks")
    for block in content:
        if not _is_whole(block):
            reported = f"the bundle sent a result with a block of type {block['type'][:40]!r}"
            raise BundleError(f"{reported} that has no content of that type")
    listed: list[Any] = [ServerBlock(block) for block in content]
    return Result(
        content=listed,
        structured=answer.get("structuredContent"),
        is_error=answer.get("isError") is True,
        meta=_theirs(answer.get("_meta")),
    )


def _is_whole(block: Json) -> bool:
    """Return whether the block has all fields that clients read in a block of its type."""
    if block["type"] == "text":
        return isinstance(block.get("text"), str)
    if block["type"] in ("image", "audio"):
        return isinstance(block.get("data"), str)
    if block["type"] == "resource":
        held = block.get("resource")
        held = held if isinstance(held, dict) else {}
        return isinstance(held.get("text"), str) or isinstance(held.get("blob"), str)
    return True


def _required(meta: Any) -> tuple[str, ...]:
    dcc = meta.get("dcc") if isinstance(meta, dict) else None
    required = dcc.get("required_capabilities", []) if isinstance(dcc, dict) else []
    if not isinstance(required, list) or not all(isinstance(item, str) for item in required):
        raise ValueError("its required_capabilities must be a list of strings")
    return tuple(required)


def _theirs(meta: Any) -> Json:
    if not isinstance(meta, dict):
        return {}
    return {key: value for key, value in meta.items() if not str(key).startswith(_OURS)}
