"""``files__list``, ``files__read`` and ``files://{id}``, which give agents the workspace's files.

These files and their ids are the same as those that installed bundles receive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.content import Json, Resource
from callboard.errors import InvalidParams, ResourceNotFound, SkillError
from callboard.ports.capability_names import FILESYSTEM_READ
from callboard.service.resources import ServedResource
from callboard.workspace.containment import WorkspaceRoots

if TYPE_CHECKING:
    from callboard.bundles.files.file_store import FileStore, StoredFile
    from callboard.bundles.files.workspaces import Workspaces

#: The name under which agents' requests are counted. No bundle can have this name.
AGENTS = ":agents"
TEMPLATE = "files://{id}"
_LIST: Json = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Only files with this name; * and ? are wildcards.",
        },
        "mime_type": {"type": "string", "description": "Only files of exactly this MIME type."},
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Only files that have all of these tags.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200},
    },
    "additionalProperties": False,
}
_READ: Json = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "description": "The file's files:// URI, from files__list."}
    },
    "required": ["uri"],
    "additionalProperties": False,
}


def file_tools(workspaces: Callable[[], Workspaces]) -> list[Tool]:
    """Return the two tools. Each call to a tool calls ``workspaces``, which must return the same
    object each time. It isn't called earlier, because most servers are never asked for a file and
    never make that object."""

    def listed(
        name: str | None = None,
        mime_type: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 200,
        _workspace_roots: WorkspaceRoots | None = None,
    ) -> Json:
        store = workspaces().store(_workspace_roots)
        files = [
            file
            for file in store.list_files()
            if (name is None or fnmatch(file.name, name))
            and (mime_type is None or file.mime_type == mime_type)
            and file.tags.issuperset(tags)
        ]
        shown = [_entry(store, file, _workspace_roots) for file in files[:limit]]
        result: Json = {"files": shown, "total": len(files)}
        if not files:
            result["note"] = (
                "no file matches, or there is no workspace: the workspace is the roots that the "
                "client or the artist has named, else the host's project"
            )
        elif len(files) > limit:
            result["note"] = f"{len(files) - limit} more; narrow by name, mime_type or tags"
        return result

    def read(uri: str, _workspace_roots: WorkspaceRoots | None = None) -> Resource:
        from callboard.bundles.files.host_resources import HostResourceNotFound

        try:
            return _read(workspaces(), uri, _workspace_roots)
        except HostResourceNotFound:
            raise SkillError(
                f"no file of this workspace has the URI '{uri[:200]}'; see files__list"
            ) from None

    return [
        _tool(
            "files__list",
            "Lists the workspace's files: a files:// URI for each, which files__read and tools of "
            "bundles take, and its workspace:// path, which other tools take.",
            _LIST,
            listed,
        ),
        _tool(
            "files__read",
            "Reads one of the workspace's files whole, text as text and anything else as base64; "
            "at most 10 MiB.",
            _READ,
            read,
        ),
    ]


def file_template(workspaces: Callable[[], Workspaces]) -> ServedResource:
    """Return the resource template for the same files."""

    def read(id: str, _workspace_roots: WorkspaceRoots | None = None) -> Resource:
        from callboard.bundles.files.host_resources import HostResourceNotFound, ResponseTooLarge

        uri = f"files://{id}"
        try:
            return _read(workspaces(), uri, _workspace_roots)
        except HostResourceNotFound:
            raise ResourceNotFound(uri) from None
        except ResponseTooLarge as large:
            raise InvalidParams(large.message, data=large.data) from None

    return ServedResource(
        TEMPLATE,
        "file",
        read,
        title="A file of the workspace",
        description="files__list lists the ids.",
        mime_type="application/octet-stream",
        required_capabilities=(FILESYSTEM_READ,),
    )


def _read(workspaces: Workspaces, uri: str, roots: WorkspaceRoots | None) -> Resource:
    from callboard.bundles.files.host_resources import READ_METHOD

    answer = workspaces.answer_now(READ_METHOD, {"uri": uri}, roots, AGENTS)
    (content,) = answer["contents"]
    return Resource(uri, _content(content), content["mimeType"])


def _content(content: Mapping[str, Any]) -> str | bytes:
    from base64 import b64decode

    text = content.get("text")
    return text if isinstance(text, str) else b64decode(content["blob"])


def _entry(store: FileStore, file: StoredFile, roots: WorkspaceRoots | None) -> Json:
    entry: Json = {"uri": file.uri, "name": file.name, "mimeType": file.mime_type}
    place = store.place_of(file)
    if place is not None and roots is not None:
        number, path = place
        bases = [root.path for root in roots.roots if root.path is not None]
        first = number == 0
        entry["path"] = f"workspace://{quote(path)}" if first else f"{bases[number]}/{path}"
    with suppress(OSError):  # The file has since been removed.
        entry["size"] = file.path.stat().st_size
    if file.tags:
        entry["tags"] = sorted(file.tags)
    return entry


def _tool(name: str, description: str, schema: Json, function: Callable[..., Any]) -> Tool:
    entry = entry_of(function, name, name)
    return Tool(
        name=name,
        description=description,
        input_schema=schema,
        load=lambda: entry,
        required_capabilities=(FILESYSTEM_READ,),
        affinity="any",
        annotations={"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
    )
